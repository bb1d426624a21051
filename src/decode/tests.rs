//! Whole payloads through settle, compile, decode and finish.
