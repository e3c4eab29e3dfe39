package host

import "time"

// stop is the shortest gap between two readings of a work clock in which it looks for a time without
// a processor. The system takes it away for a millisecond or more, and telling how much it gave costs
// two thirds of a microsecond: at most a hundredth of such a gap.
const stop = 100 * time.Microsecond

// work is a clock that goes on only while the app has a processor, so that what it measures is work,
// however many others want the machine. It reads the wall's clock, which is cheap, and corrects itself
// where that has made a jump: what was work of the jump is what the thread has used since the last
// one, less what has been counted since.
type work struct {
	wall, cpu func() time.Duration

	now     time.Duration // its time
	at      time.Duration // the wall's at the last reading
	used    time.Duration // of the processor, at the last jump
	counted time.Duration // since the last jump
}

// read is the time. It never runs backwards.
func (w *work) read() time.Duration {
	at := w.wall()
	gap := at - w.at
	w.at = at
	if gap < stop {
		w.counted += gap
		w.now += gap
		return w.now
	}
	used := w.cpu()
	w.now += min(max(0, used-w.used-w.counted), gap)
	w.used, w.counted = used, 0
	return w.now
}

// work is the clock that measures what the app does: the wall's for apps that share threads, and where
// the system does not tell.
func (p *Process) work() func() time.Duration {
	if p.meter.off || !tellsCPU {
		return p.host.Clock
	}
	w := work{wall: p.host.Clock, cpu: p.meter.used}
	return w.read
}
