"""What hosts are told: their configuration files, read with the place of everything, judged, and edited."""
