"""`python -m fastrnns_rs` is the command `fastrnns-rs`."""

from fastrnns_rs.cli import main

if __name__ == "__main__":
    main()
