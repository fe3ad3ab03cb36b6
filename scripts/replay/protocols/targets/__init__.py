"""Where the I/O goes: images, pools, a file, a mounted file system, capped device classes."""
