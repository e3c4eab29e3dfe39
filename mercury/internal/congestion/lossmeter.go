package congestion

const (
	// lossMemory is how many packets the measure of loss remembers at least.
	lossMemory = 1024
	// LossFloor is taken for the number of packets while there were fewer, so that one early loss
	// is not much.
	LossFloor = 512
)

// LossMeter measures which share of the packets is lost, over the last one to two thousand.
type LossMeter struct{ Decided, Gone uint32 }

func (m *LossMeter) Arrived() { m.add(0) }

func (m *LossMeter) Lost() { m.add(1) }

// Regained takes a loss back.
func (m *LossMeter) Regained() {
	if m.Gone > 0 {
		m.Gone--
	}
}

func (m *LossMeter) add(gone uint32) {
	m.Decided++
	m.Gone += gone
	if m.Decided >= 2*lossMemory {
		m.Decided /= 2
		m.Gone = (m.Gone + 1) / 2
	}
}

// PerMyriad is the loss in hundredths of a percent.
func (m *LossMeter) PerMyriad() int { return int(m.Gone) * 10000 / int(max(m.Decided, LossFloor)) }
