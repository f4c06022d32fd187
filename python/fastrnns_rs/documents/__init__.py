"""JSON documents: dataclasses, codec and schemas, without other logic."""
