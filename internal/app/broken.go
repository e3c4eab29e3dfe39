package app

import "github.com/cellscape/cellscape/mercury"

// Closed takes the end of a channel. If this app sent to another over it, ok is true and app is the
// other: the last messages may be lost although both live on. Messages from that app come over a
// channel of their own and are not affected.
func (l *Links) Closed(ch mercury.ChannelID) (app mercury.Address, ok bool) {
	app, ok = l.targets[ch]
	delete(l.targets, ch)
	return app, ok
}
