package sim

import (
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// Savers count, and have their cell parts backed up. What one was told is safe, no later life of
// its cell part may lack, even if CellApps and BaseApps die at about the same time.

const saverDef = `
<root>
	<Properties>
		<count> <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </count>
		<wrong> <Type> STRING </Type> <Flags> CELL_PRIVATE </Flags> </wrong>
	</Properties>
</root>`

// saverBase is the base part of a saver.
type saverBase struct{ *entity.Base }

// OnCreated makes the cell part.
func (b *saverBase) OnCreated() {
	_ = b.CreateCell(theSpace, somewhere(uint64(b.ID())), property.Vector3{}, nil)
}

// saverCell is the cell part.
type saverCell struct {
	*space.Real
	w     *world `cellscape:"local"`
	Count property.Uint32
	Wrong property.String
}

// OnCreated starts the beat. A cell part that begins anew has nothing that was safe.
func (s *saverCell) OnCreated() {
	_, _ = s.AddTimer(beat, beat, "OnBeat", 0)
	s.compare()
}

// OnRestored compares.
func (s *saverCell) OnRestored() { s.compare() }

func (s *saverCell) compare() {
	if safe := s.w.saved[s.ID()]; s.Count.Get() < safe {
		s.Wrong.Set(fmt.Sprintf("%d was safe, and incarnation %d begins with %d", safe, s.Order().Incarnation, s.Count.Get()))
	}
}

// OnBeat counts, and walks on, so that it is handed over now and then.
func (s *saverCell) OnBeat(entity.Callback) {
	if hushed(s.Real) {
		return
	}
	p := s.Position()
	p.X = min(max(p.X+float32(s.Chance().IntN(61)-30), -half+1), half-1)
	_ = s.SetPosition(p)
	s.Count.Set(s.Count.Get() + 1)
	if err := s.Backup("OnSafe", int64(s.Count.Get())); err != nil && !errors.Is(err, entity.ErrTooMany) {
		s.Wrong.Set(err.Error())
	}
}

// OnSafe hears what is safe.
func (s *saverCell) OnSafe(c entity.Callback) {
	s.w.saved[s.ID()] = max(s.w.saved[s.ID()], uint32(c.User))
}

// savedKept checks that nothing is lost that a saver was told is safe. A real that the base of an app made
// which was declared dead is gone when everyone knows that.
type savedKept struct{ c *Cluster }

func (k *savedKept) safe() error { return nil }

func (k *savedKept) converged() error {
	var faults []error
	for v, s := range realsOf[*saverCell](k.c) {
		if s.Wrong.Get() != "" {
			faults = append(faults, fmt.Errorf("promise 6: %s on %s: %s", v.ID(), v.p.Name, s.Wrong.Get()))
		}
	}
	if k.c.opts.Wild.Savers > 0 && len(k.c.world.saved) == 0 {
		faults = append(faults, errors.New("no saver was told that anything is safe"))
	}
	return errors.Join(faults...)
}
