package flow

import "github.com/cellscape/cellscape/internal/invariant"

// assert checks that what is kept runs without a gap to the last number, that all below it was
// received, and that nothing was received that was not sent.
func (o *Sender) assert() {
	if o.received > o.sent || o.sent > o.next || o.Low() > o.received+1 {
		invariant.Broken("flow: keeps from %d, received %d, sent %d, last %d", o.Low(), o.received, o.sent, o.next)
	}
	bytes := 0
	for i, k := range o.kept {
		bytes += len(k.payload)
		if want := o.next - uint64(len(o.kept)-1-i); k.number != want {
			invariant.Broken("flow: keeps %d where %d must be", k.number, want)
		}
	}
	if bytes != o.bytes || len(o.kept) > MaxKept {
		invariant.Broken("flow: keeps %d messages of %d bytes, and counts %d bytes", len(o.kept), bytes, o.bytes)
	}
}

// assert checks that numbers of one stream only grow since was, that nothing is settled before it is
// saved, and that what came early waits for a number that is missing.
func (in *Receiver) assert(was Receiver) {
	if in.stream < was.stream || in.stream == was.stream && (in.last < was.last || in.settled < was.settled) {
		invariant.Broken("flow: %d of stream %d after %d of %d", in.last, in.stream, was.last, was.stream)
	}
	if in.settled > in.saved || in.saved > in.last {
		invariant.Broken("flow: settled %d, saved %d, handled %d", in.settled, in.saved, in.last)
	}
	for i, k := range in.early {
		if k.number <= in.last+1 || i > 0 && in.early[i-1].number >= k.number {
			invariant.Broken("flow: %d waits, the last handled is %d", k.number, in.last)
		}
	}
}
