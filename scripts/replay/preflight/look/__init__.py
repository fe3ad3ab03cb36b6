"""`replay look`: what two clusters say of themselves and of mirroring within a minute. It only reads."""
