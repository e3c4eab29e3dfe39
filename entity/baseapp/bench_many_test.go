package baseapp

import (
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/migrate"
)

// manyBases is a copier with 10,000 bases, all of them copied, and the defaults of a BaseApp.
// Whoever holds the copies is played by the benchmark, which is paid for, too.
func manyBases(b *testing.B) *copier {
	b.Helper()
	c := newCopier(b, func(c *Config) {
		c.BackupPeriod, c.MoveBatch, c.Log = DefaultBackupPeriod, DefaultMoveBatch, slog.New(slog.NewTextHandler(io.Discard, nil))
	})
	c.pass(time.Second)
	for range 10_000 {
		c.make()
	}
	c.pass(3 * DefaultBackupPeriod)
	if n := c.a.unprotected(); n > 0 {
		b.Fatalf("%d bases have no copy", n)
	}
	return c
}

// BenchmarkBackup10kBases is a backup period of 10,000 bases at the default of ten seconds: a copy of each.
func BenchmarkBackup10kBases(b *testing.B) {
	c := manyBases(b)
	b.ReportAllocs()
	sent := c.a.report.BackupsSent
	for b.Loop() {
		c.take()
		c.pass(DefaultBackupPeriod)
	}
	b.ReportMetric(float64(c.a.report.BackupsSent-sent)/float64(b.N), "copies/op")
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)/float64(DefaultBackupPeriod/DefaultTick), "ms/tick")
}

// BenchmarkLeave10kBases has a BaseApp leave that has 10,000 bases, until the last has gone. How
// long that would take in the time of the cluster, with managers and holders that answer at once,
// is cluster-s/op.
func BenchmarkLeave10kBases(b *testing.B) {
	var took time.Duration
	for b.Loop() {
		b.StopTimer()
		c := manyBases(b)
		number, began := uint64(100), c.now
		rule := migrate.BackupRule{Rule: migrate.Rule{Version: 3, Replicas: 1}}
		b.StartTimer()
		c.a.Retire("measured")
		for !c.a.Retired() {
			if c.now-began > time.Hour {
				b.Fatalf("it waits for %q, with %d bases", c.a.RetireWaits(), len(c.a.list))
			}
			c.asks, c.sent = nil, nil
			c.pass(DefaultTick)
			for _, m := range c.asks {
				number++
				c.say(c.managers, &wire.Departed{Request: m.Request, Number: number})
				c.told = max(c.told, m.Part.Turn)
			}
			if !c.a.Moves() { // who has the bases has copies of them made
				rule.Version, rule.Covers = rule.Version+1, number
				c.tell(appW, &rule)
				c.tell(appW, &migrate.CopyMark{Version: rule.Version})
			}
		}
		took += c.now - began
	}
	b.ReportMetric(took.Seconds()/float64(b.N), "cluster-s/op")
}
