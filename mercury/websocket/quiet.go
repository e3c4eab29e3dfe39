package websocket

import (
	"io"
	"log"
)

// quiet is a log for the server of Listen, whose only complaints are about strangers: a library does not write to its
// program's log unasked.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
