"""How Replay talks to a Ceph cluster: command line, one long-lived monitor session, admin sockets."""
