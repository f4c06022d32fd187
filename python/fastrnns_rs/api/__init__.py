"""What `import fastrnns_rs` offers that starts something: a function a file."""
