mod mkfs;
