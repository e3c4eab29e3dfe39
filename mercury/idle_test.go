package mercury

import (
	"testing"
	"time"
)

// On a channel on which nobody says anything one end pings and the other acks, once in each KeepAlive:
// neither is silent for longer, and neither says more.
func TestIdleChannelPingsOnce(t *testing.T) {
	for name, talk := range map[string]func(l *pairLink, ch ChannelID, now time.Duration){
		"silence": func(*pairLink, ChannelID, time.Duration) {},
		"a report each second": func(l *pairLink, ch ChannelID, now time.Duration) {
			if now%time.Second == 0 {
				_ = l.a.Send(ch, make([]byte, 100))
			}
		},
	} {
		l, ch, _, _ := newPairLink(t, Config{}, time.Millisecond)
		l.run(5*time.Second, nil)
		before := map[*Endpoint]int{l.a: l.sent[l.a], l.b: l.sent[l.b]}
		last := map[*Endpoint]time.Duration{l.a: l.now, l.b: l.now}
		l.drop = func(from *Endpoint, _ []byte) bool {
			if gap := l.now - last[from]; gap > DefaultKeepAlive+time.Millisecond {
				t.Errorf("%s: one end was silent for %v", name, gap)
			}
			last[from] = l.now
			return false
		}
		l.run(time.Minute, func(now time.Duration) { talk(l, ch, now) })
		for _, e := range []*Endpoint{l.a, l.b} {
			if n := l.sent[e] - before[e]; n < 58 || n > 62 {
				t.Errorf("%s: %d packets in a minute", name, n)
			}
		}
	}
}
