mod harm;
mod maker;
mod mkfs;
mod versions;
