package host

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// link stands between an app and its Endpoint and knows which channels there are,
// so that a process can be stopped in order whatever its app is.
type link struct {
	*mercury.Endpoint // the app's Transport
	app               App
	channels          map[mercury.ChannelID]bool
}

var (
	_ mercury.Transport = (*link)(nil)
	_ mercury.Handler   = (*link)(nil)
)

func newLink(e *mercury.Endpoint) *link {
	return &link{Endpoint: e, channels: make(map[mercury.ChannelID]bool)}
}

func (l *link) Dial(to mercury.Address) mercury.ChannelID {
	ch := l.Endpoint.Dial(to)
	l.channels[ch] = true
	return ch
}

func (l *link) Close(ch mercury.ChannelID) {
	delete(l.channels, ch)
	l.Endpoint.Close(ch)
}

func (l *link) Abort(ch mercury.ChannelID) {
	delete(l.channels, ch)
	l.Endpoint.Abort(ch)
}

func (l *link) Opened(now time.Duration, ch mercury.ChannelID, peer mercury.Address) {
	l.channels[ch] = true
	l.app.Opened(now, ch, peer)
}

func (l *link) Message(now time.Duration, ch mercury.ChannelID, reliable bool, msg []byte) {
	l.app.Message(now, ch, reliable, msg)
}

func (l *link) Closed(now time.Duration, ch mercury.ChannelID, reason error) {
	delete(l.channels, ch)
	l.app.Closed(now, ch, reason)
}

// closeAll condemns every channel, oldest first. The app hears nothing any more.
func (l *link) closeAll() {
	l.Endpoint.SetHandler(nil)
	all := make([]mercury.ChannelID, 0, len(l.channels))
	for ch := range l.channels {
		all = append(all, ch)
	}
	slices.Sort(all)
	for _, ch := range all {
		l.Close(ch)
	}
}
