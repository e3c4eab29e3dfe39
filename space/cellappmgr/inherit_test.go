package cellappmgr

import (
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	spaces "github.com/cellscape/cellscape/space"
)

// bequests are the lost areas that a peer has been given, and how many of them were taken back.
func (p *peer) bequests() (given []spaces.LostArea, ids []entity.DataID, taken int) {
	p.r.t.Helper()
	for _, m := range take[wire.SpaceData](p) {
		switch e := m.Entry; {
		case e.Key != spacekey.LostArea:
		case e.Removed:
			taken++
		default:
			var lost spaces.LostArea
			if err := lost.Parse(e.Value); err != nil {
				p.r.t.Error(err)
			}
			given, ids = append(given, lost), append(ids, e.ID)
		}
	}
	return given, ids, taken
}

// The land of a dead cell is given to the cell that has it now, after the geometry that says so. When
// that one dies before it has told the game, the next one gets both.
func TestLostAreaIsGiven(t *testing.T) {
	r := newRig(t, nil)
	a, b, first, second := r.split()
	_, land, _ := r.m.space(1).tree.Leaf(second)
	b.drop(mercury.ErrPeerRestarted)
	geometry := false
	for _, msg := range r.net.inboxes[a.ch] {
		geometry = geometry || wire.ID(msg[0]) == wire.GeometryID
		if wire.ID(msg[0]) == wire.SpaceDataID && !geometry {
			t.Error("it was given before its new cell knew that it has it")
		}
	}
	given, _, taken := a.bequests()
	if want := []spaces.LostArea{{Heir: first, Area: land}}; !slices.Equal(given, want) || taken != 0 {
		t.Fatalf("given %v, %d taken back, want %v", given, taken, want)
	}

	c := r.join(wire.CellApp, 12)
	a.drop(mercury.ErrPeerRestarted)
	r.pass(time.Second)
	adds := take[wire.AddCell](c)
	if len(adds) == 0 {
		t.Fatal("the space has no cell again")
	}
	given, ids, taken := c.bequests()
	if want := []spaces.LostArea{{Heir: adds[0].Cell, Area: bsp.Everything()}}; !slices.Equal(given, want) || taken != 1 {
		t.Fatalf("given %v, %d taken back, want %v and the one before", given, taken, want)
	}

	for i, id := range ids {
		c.send(&wire.SetSpaceData{Space: 1, Key: spacekey.LostArea, ID: id, Removed: true, Said: uint64(i + 1)})
	}
	if e := r.m.space(1).data.find(spacekey.LostArea); e != nil {
		t.Errorf("%v is left when the game has been told of all", e)
	}
}
