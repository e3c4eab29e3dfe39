package websocket

import (
	"io"
	"log"
)

// quiet is a log for the server of Listen, which would only complain about strangers. A library
// does not write to its program's log unasked.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
