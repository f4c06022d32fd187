"""The runners: one decorated creator each, which imports torch when it is called and not before."""
