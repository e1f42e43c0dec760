"""What the acceptance tests share: a stage to play runs on, processes that can be killed, and a fuse to kill them with."""
