"""What the acceptance tests share: a stage to play runs on, processes to kill, and a fuse to kill them with."""
