package download

import (
	"errors"

	"github.com/cellscape/cellscape/mercury"
)

// afterwards keeps callbacks until the state is whole again, so that they may call whatever they
// like. They run in the order of what happened, also when one of them makes something happen.
type afterwards struct {
	queue   []func()
	running bool
}

func (a *afterwards) add(f func()) { a.queue = append(a.queue, f) }

func (a *afterwards) run() {
	if a.running || len(a.queue) == 0 {
		return
	}
	a.running = true
	defer func() { a.running = false }()
	for len(a.queue) > 0 {
		f := a.queue[0]
		a.queue = append(a.queue[:0], a.queue[1:]...)
		f()
	}
}

// maxBulkWaiting bounds the small messages that wait for a full bulk queue, per channel: an offer
// and an end for each download, and answers to a peer that floods offers and reads nothing.
const maxBulkWaiting = 64

// outbox keeps the small messages of one channel that its queue had no room for, in order.
type outbox struct{ waiting [][]byte }

// send sends msg behind what waits, or lets it wait. dropped says that too much waits already.
func (o *outbox) send(link Link, ch mercury.ChannelID, msg []byte) (dropped bool, err error) {
	if err := o.retry(link, ch); err != nil {
		return false, err
	}
	if len(o.waiting) == 0 {
		if err := link.SendBulk(ch, msg); !errors.Is(err, mercury.ErrFull) {
			return false, err
		}
	}
	if len(o.waiting) >= maxBulkWaiting {
		return true, nil
	}
	o.waiting = append(o.waiting, append([]byte(nil), msg...))
	return false, nil
}

// retry sends what waits, as far as there is room. Any other error than want of room is the
// channel's end.
func (o *outbox) retry(link Link, ch mercury.ChannelID) error {
	for len(o.waiting) > 0 {
		err := link.SendBulk(ch, o.waiting[0])
		if errors.Is(err, mercury.ErrFull) {
			return nil
		}
		o.waiting = o.waiting[1:]
		if err != nil {
			o.waiting = nil
			return err
		}
	}
	o.waiting = nil
	return nil
}
