package app

import "github.com/cellscape/cellscape/mercury"

// Closed takes the end of a channel. It reports whether that was one over which this app
// sent to another, and to which: what was sent last may be lost, and both may live on.
// Nothing that comes from that app is lost by it; that has a channel of its own.
func (l *Links) Closed(ch mercury.ChannelID) (app mercury.Address, ok bool) {
	app, ok = l.targets[ch]
	delete(l.targets, ch)
	return app, ok
}
