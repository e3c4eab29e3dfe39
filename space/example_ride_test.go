package space_test

import (
	"math"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// A Ferry goes to and fro, with all who are on it.
type Ferry struct{ *space.Real }

// OnCreated casts off.
func (f *Ferry) OnCreated() { f.OnShore(entity.Callback{User: 400}) }

// OnShore sails to the other shore.
func (f *Ferry) OnShore(c entity.Callback) {
	if _, err := f.MoveTo(property.Vector3{X: float32(c.User)}, 8, "OnShore", -c.User); err != nil {
		f.Log().Error("adrift", "error", err)
	}
}

// A Sailor goes aboard the nearest ferry, and swims if that sinks.
type Sailor struct{ *space.Real }

// Embark is called by the sailor's client: it stands at the bow then, and looks ahead. The client sees it
// go with the ferry, and may walk about on deck.
func (s *Sailor) Embark(entity.ID) {
	for v := range s.EntitiesInRange(10) {
		if v.Def().Name != "Ferry" {
			continue
		}
		if err := s.Board(v.ID(), property.Vector3{Y: 2, Z: 12}, property.Vector3{}); err != nil {
			s.Log().Warn("left ashore", "error", err)
		}
		return
	}
}

// Land takes it to the quay, to the right of the ferry.
func (s *Sailor) Land(entity.ID) {
	at, facing := s.Position(), s.Direction()
	right := float64(facing.X) + math.Pi/2
	s.Alight()
	to := property.Vector3{X: at.X + float32(6*math.Sin(right)), Z: at.Z + float32(6*math.Cos(right))}
	if err := s.SetPosition(to); err != nil {
		s.Log().Warn("in the water", "error", err)
	}
}

// OnAlighted is called when the ferry is no more.
func (s *Sailor) OnAlighted(entity.ID) { s.Log().Info("man overboard") }

func ExampleReal_Board() {
	_ = (*Ferry).OnCreated
	_ = (*Sailor).Embark
	_ = (*Sailor).Land
	_ = (*Sailor).OnAlighted
}
