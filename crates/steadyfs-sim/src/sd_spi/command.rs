//! Numbers of the commands that the card supports. Commands that begin with `APP_` follow CMD55.

pub const GO_IDLE: u8 = 0;
pub const SEND_IF_COND: u8 = 8;
pub const SEND_CSD: u8 = 9;
pub const SEND_CID: u8 = 10;
pub const STOP: u8 = 12;
pub const SEND_STATUS: u8 = 13;
pub const SET_BLOCK_LENGTH: u8 = 16;
pub const READ_SINGLE: u8 = 17;
pub const READ_MULTIPLE: u8 = 18;
pub const WRITE_SINGLE: u8 = 24;
pub const WRITE_MULTIPLE: u8 = 25;
pub const ERASE_FIRST: u8 = 32;
pub const ERASE_LAST: u8 = 33;
pub const ERASE: u8 = 38;
pub const APP: u8 = 55;
pub const READ_OCR: u8 = 58;
pub const CRC_ON_OFF: u8 = 59;
pub const APP_STATUS: u8 = 13;
pub const APP_WELL_WRITTEN: u8 = 22;
pub const APP_PRE_ERASE: u8 = 23;
pub const APP_START: u8 = 41;
