package sim

import "testing"

// lookThrough runs a world with gateways, and counts what was seen through them.
func lookThrough(t *testing.T, o Options, seen, judged *int) {
	t.Helper()
	o.Gateway = true
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(); err != nil {
		t.Errorf("seed %d: %v", o.Seed, err)
	}
	*seen, *judged = *seen+c.seenThrough, *judged+c.throughFresh
}

func enoughSeen(t *testing.T, seen, judged int) {
	t.Helper()
	t.Logf("%d figures were seen at rest, %d places while they walked", seen, judged)
	if seen == 0 || judged < 100 {
		t.Errorf("only %d figures were seen through gateways at rest, and %d places while they walked", seen, judged)
	}
}

// Players see through gateways, in their space and into another. What they see there is at most a second
// old, and becomes what is true there.
func TestGateways(t *testing.T) {
	t.Parallel()
	seen, judged := 0, 0
	lookThrough(t, Options{Seed: 1}, &seen, &judged)
	lookThrough(t, Options{Seed: 2, CellApps: 2}, &seen, &judged)
	enoughSeen(t, seen, judged)
}

// The same while all goes wrong: channels break and lose, and CellApps, managers and cells come and go at
// both ends.
func TestGatewaysInBadTimes(t *testing.T) {
	t.Parallel()
	seen, judged := 0, 0
	for seed := range uint64(4) {
		lookThrough(t, Options{Seed: 20 + seed, Crash: true, CrashManager: seed%2 == 0, CrashBase: seed == 1, Pause: true,
			Retire: seed >= 2, Replicas: 1, Wild: Wild{Breaks: true}}, &seen, &judged)
	}
	enoughSeen(t, seen, judged)
}
