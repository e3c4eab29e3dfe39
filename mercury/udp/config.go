package udp

import (
	"errors"
	"fmt"
)

const (
	// DefaultBuffer is what is asked of the system for each direction: 4 MiB hold what a few
	// hundred peers send in one tick, and the bursts of a peer that is not paced. It is a bound,
	// not memory that is taken.
	DefaultBuffer = 4 << 20
	// DefaultBatch is the number of reads or writes that one system call does. The call itself is
	// then a hundredth of their cost.
	DefaultBatch = 32
	// MaxBatch bounds Config.Batch. More gains nothing, and keeps an app longer in one call.
	MaxBatch = 256
	// MaxBuffer bounds what is asked of the system: 1 GiB.
	MaxBuffer = 1 << 30
)

// Config says how a Socket is opened. Zero values mean the default named beside each field. Fields
// that a system has no use for are passed over there.
type Config struct {
	// ReadBuffer and WriteBuffer are the bytes asked of the system for datagrams that wait, in each
	// direction (DefaultBuffer). Without the right to more, Linux gives at most net.core.rmem_max
	// and wmem_max; Counters tells what was got.
	ReadBuffer, WriteBuffer int
	// Batch is how many reads or writes one system call does at most (DefaultBatch). 1 turns GSO
	// and GRO off too, and costs less where datagrams come and go singly: one of thousands of
	// clients in a process, or who looks for a fault.
	Batch int
	// NoGSO sends datagrams to one peer singly. Otherwise Linux is given several at once
	// (UDP_SEGMENT), where the network device allows it.
	NoGSO bool
	// NoGRO takes datagrams of one peer singly. Otherwise Linux hands over several at once
	// (UDP_GRO).
	NoGRO bool
	// NoAlarm saves the file descriptor that makes SetReadDeadline exact to a tenth of a
	// millisecond on Linux. Without it a deadline may be a millisecond late, which is enough for
	// thousands of clients in one process.
	NoAlarm bool
	// Fragment lets the system cut datagrams that are too long for the path into fragments.
	// Otherwise Linux is told not to, so that an Endpoint can find out what the path carries, and
	// datagrams above the MTU of the network device are dropped and counted.
	Fragment bool
}

// withDefaults returns c with every zero field set.
func (c Config) withDefaults() Config {
	for _, v := range [...]struct {
		field *int
		value int
	}{{&c.ReadBuffer, DefaultBuffer}, {&c.WriteBuffer, DefaultBuffer}, {&c.Batch, DefaultBatch}} {
		if *v.field == 0 {
			*v.field = v.value
		}
	}
	return c
}

// Validate reports all faults of c at once, each with its remedy.
func (c Config) Validate() error {
	var faults []error
	d := c.withDefaults()
	for _, v := range [...]struct {
		name       string
		value, max int
	}{{"ReadBuffer", d.ReadBuffer, MaxBuffer}, {"WriteBuffer", d.WriteBuffer, MaxBuffer}, {"Batch", d.Batch, MaxBatch}} {
		if v.value < 1 || v.value > v.max {
			faults = append(faults, fmt.Errorf("udp: Config.%s is %d: take 1 to %d", v.name, v.value, v.max))
		}
	}
	return errors.Join(faults...)
}
