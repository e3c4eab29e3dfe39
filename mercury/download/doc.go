// Package download brings megabytes to a client beside its game, over the bulk stream of a channel
// of package mercury. Uploads is the sending side and Downloads the receiving one. A content is
// named by its SHA-256: what is left of it after a broken channel is fetched over the next one, and
// the whole is checked at the end.
//
// It does no input or output itself but through the source and the sink that the app gives, starts
// no goroutine and reads no clock. Each side bounds what the other can make it hold, and tells the
// end of each download once.
//
// Its messages are bulk messages that begin with a byte from MinKind to MaxKind; an app that sends
// bulk messages of its own begins them with another.
package download
