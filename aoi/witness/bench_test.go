package witness

import "testing"

// 60 entities within 240 m all move every tick, with the default budget; one in ten changes a
// property. One op is one Update.
func BenchmarkUpdate60Moving(b *testing.B) {
	wd := crowd(b, Config{}, 60, 4)
	b.ReportAllocs()
	bytes := 0
	for b.Loop() {
		b.StopTimer()
		wd.everyoneMoves()
		for i := range 6 {
			wd.all[(int(wd.tick)+i*10)%60].History.Touch(hp)
		}
		b.StartTimer()
		bundle, packets := wd.w.Update(wd.watcher, wd.tick, nil, false)
		bytes += len(bundle) + total(packets)
		wd.tick++
	}
	b.ReportMetric(float64(bytes)/float64(b.N), "bytes/op")
}

// 100 entities with nothing new: the price of a still world, per player and tick.
func BenchmarkUpdate100Still(b *testing.B) {
	wd := crowd(b, Config{}, 100, 2)
	b.ReportAllocs()
	for b.Loop() {
		wd.tick++
		wd.w.Update(wd.watcher, wd.tick, nil, false)
	}
}
