package app

import (
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// Closed takes the end of a channel, and so of what was asked on it. If this app sent to another
// over it, ok is true and app is the other: the last messages may be lost although both live on.
// Messages from that app come over a channel of their own and are not affected.
func (l *Links) Closed(now time.Duration, ch mercury.ChannelID, reason error) (app mercury.Address, ok bool) {
	app, ok = l.targets[ch]
	delete(l.targets, ch)
	l.calls.Closed(now, ch, reason)
	return app, ok
}
