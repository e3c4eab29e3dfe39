package stream

import "context"

// Shutdown ends the Transport: it accepts nothing more, closes all channels as Close does, goes on until their peers have
// everything or ctx ends, drops what is left and waits until all its goroutines are gone. The Handler is not called any more, and
// what Do was given before may or may not be. The error is ctx's when something was dropped. It must not be called from
// inside a callback; a second call does nothing.
func (t *Transport) Shutdown(ctx context.Context) error {
	t.mu.Lock()
	was := t.stopped
	t.stopped = true
	t.mu.Unlock()
	if was {
		return nil
	}
	if t.net.Stop != nil {
		t.net.Stop()
	}
	t.SetHandler(nil)
	unhook := context.AfterFunc(ctx, t.poke)
	defer unhook()
	for t.condemnAll() > 0 && ctx.Err() == nil {
		t.Wait(t.Now() + idleWait)
		t.Deliver(t.Now())
	}
	var err error
	if len(t.channels) > 0 {
		err = ctx.Err()
	}
	t.drop()
	return err
}

// condemnAll closes every channel that is not closed yet, oldest first, and returns how many there are.
func (t *Transport) condemnAll() int {
	for _, c := range t.order {
		if c.state != dead {
			t.Close(c.id)
		}
	}
	t.Flush()
	return len(t.channels)
}

// drop ends every connection there still is and waits for their goroutines.
func (t *Transport) drop() {
	for _, c := range t.order {
		t.end(c, nil)
	}
	t.mu.Lock()
	left := make([]*link, 0, len(t.links))
	for l := range t.links {
		left = append(left, l)
	}
	t.mu.Unlock()
	for _, l := range left {
		l.shut()
	}
	t.wg.Wait()
	if t.net.Close != nil {
		t.net.Close()
	}
}
