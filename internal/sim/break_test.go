package sim

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// breakable is a message between processes that is lost together with its channel, while both
// processes live on. Package migrate says what repairs each loss.
type breakable struct {
	id wire.ID
	to wire.Role
}

func (b breakable) String() string { return b.id.String() + " to a " + b.to.String() }

// unbroken are the messages that this test leaves alone: those with which apps join, verdicts,
// and orders of the test itself, which have tests of their own; and what is told again every
// second, or may be lost, in any case.
var unbroken = []wire.ID{
	wire.WelcomeID, wire.RefusedID, wire.DismissedID, wire.MembersID, wire.JoinID, wire.RejoinID, wire.RejoinCellID, wire.RejoinEndID,
	wire.AppDeadID, wire.AppSilentID, wire.AppLeftID, wire.RetireAppID, wire.RetiredID, wire.FreezeID, wire.GhostAuditID,
	wire.ReportID, wire.CellsReportID, wire.GeometryLackedID, wire.SpaceRateID, wire.SpaceDataSetID, wire.ClientPacketID,
	wire.ProxiesID, wire.NamesID, wire.LoginsID, wire.SteerID,
	wire.RejoinRuleID, wire.BackupRuleID, wire.BackupRuleHeldID, wire.BaseDoorsID, wire.InheritedID, wire.LeavingID, wire.DepartID, wire.DepartedID, wire.BasesMovedID, wire.ShedID,
	wire.LeaseAskID, wire.LeaseVoteID, wire.SpaceCopyID, wire.SharedDataID, wire.OutdoneID, wire.NameLostID,
	wire.EndWorldID, wire.WorldEndingID, wire.StopID, wire.StopStateID, wire.KeepSpaceID, wire.SpaceKeptID, wire.KeepOnlyID, wire.OnlyKeptID, // see TestStopBreaks
	wire.ReadWatchID, wire.SetWatchID, wire.WatchedID, // see TestWatchBreaks
	wire.BringSpaceID, wire.SpaceBroughtID, wire.BringBackID, wire.BroughtBackID, // see TestStartFromStore
}

// breakables are all messages of the table that are not unbroken.
func breakables() (list []breakable) {
	for _, k := range wire.Kinds() {
		for to := wire.CellAppMgr; to < wire.Observer; to++ {
			if wire.Takes(to, k.ID) && !slices.Contains(unbroken, k.ID) {
				list = append(list, breakable{k.ID, to})
			}
		}
	}
	return list
}

// takes reports whether a process is of a role.
func (p *Process) takes(role string) bool {
	return strings.TrimRight(p.Name, "0123456789") == role
}

// snap breaks the channel on which a message has come to p, and loses the message and everything
// that was sent after it, as when one side gives the channel up. Both processes live on. The sender
// learns of it when the peer's notice arrives, or when its next packet is rejected.
func (r *rig) snap(p *Process, ch mercury.ChannelID) {
	r.parted = true
	p.ep.Abort(ch)
	p.app.Closed(r.now, ch, mercury.ErrTimeout)
}

// fromApp reports whether a message came from a process of the cluster and not from a client.
func (r *rig) fromApp(p *Process, ch mercury.ChannelID) bool {
	from := r.peer(p, ch)
	return from != nil && !strings.HasPrefix(from.Name, "player") && !strings.HasPrefix(from.Name, "guest") && !strings.HasPrefix(from.Name, "twin")
}

// TestBreaks breaks channels exactly at the messages of one kind, all over the cluster, for a
// while; in the end the world comes to rest with every promise kept. Entities that do nothing,
// rocks and grains, show what only motion repairs.
func TestBreaks(t *testing.T) {
	for i, k := range breakables() {
		if i%everyBreak != 0 {
			continue
		}
		t.Run(k.String(), func(t *testing.T) {
			o := Options{
				Seed: uint64(4000 + i), CellApps: 3, Players: 4, Rovers: 4, Lodgers: 2, Churn: true, Retire: true, Balance: still(3), Wild: Wild{Rocks: 3},
			}
			switch k.id {
			case wire.LocatedID, wire.WhereisID, wire.WhereaboutsID, wire.OnloadRefusedID, wire.OnloadPartyID:
				o.Wild.Travellers = 6
			case wire.LocateAreaID, wire.LocatedAreaID:
				o.Gateway = true
			case wire.PlaceBaseID, wire.BasePlacedID, wire.CreateBaseID, wire.MakeBaseID, wire.BaseMadeID,
				wire.RegisterNameID, wire.FindNameID, wire.NameHeldID, wire.NameGoneID:
				o.Wild.Namers = 6
			case wire.CallStoreID, wire.StoreAnswerID:
				o.Wild.Ledgers = 6
			case wire.ReloginID:
				o.Wild.Twins, o.Wild.Relogins = 4, true
			case wire.BaseCopyID, wire.BaseCopyHeldID, wire.BaseGoneID, wire.BaseForgottenID, wire.CopyMarkID:
				o.Replicas = 1
			case wire.FlowInquiryID, wire.FlowRemainderID:
				o.Wild.Gossips = 4
			case wire.LookID, wire.SeenID, wire.MournedID:
				o.Lookout, o.BaseApps = true, 1 // so that a CellApp is the second witness
			}
			broken := 0
			play(t, o, func(r *rig) {
				r.losses++ // some entities are restored, and handle again what they handled before
				seen := 0
				r.hook = func(p *Process, ch mercury.ChannelID, msg []byte) []byte {
					if len(msg) == 0 || !r.fromApp(p, ch) {
						return msg
					}
					if wire.ID(msg[0]) != k.id || !p.takes(strings.ToLower(k.to.String())) {
						return r.provoked(k.id, msg)
					}
					// It breaks at every third message: what is repeated gets through.
					if seen++; seen%3 != 1 || r.now < r.snapAt {
						return msg
					}
					broken++
					r.snapAt = r.now + 300*time.Millisecond
					r.snap(p, ch)
					return nil
				}
				r.layRocks()
				for n := 0; n < 8 || broken == 0 && n < 60; n++ {
					r.wait(1500 * time.Millisecond)
					r.provoke(k.id, n)
				}
				r.hook = nil
				r.wait(repaired)
			})
			t.Logf("%d channels broken", broken)
			if broken == 0 {
				t.Errorf("no %v was sent", k)
			}
		})
	}
}

// layRocks lays all rocks, and drops some grains, near the lines between cells.
func (r *rig) layRocks() {
	d := -50.0
	for _, s := range basesOf[*rockBase](r.Cluster) {
		if err := s.lay(r.near(d)); err != nil {
			r.t.Fatal(err)
		}
		d += 40
	}
	r.grain(r.near(-20))
	r.grain(r.near(20))
}

// near is across, or somewhere else if the first line is on its way out of the world.
func (r *rig) near(d float64) property.Vector3 {
	at := r.across(d)
	if max(at.X, -at.X, at.Z, -at.Z) > half {
		return property.Vector3{X: float32(d), Z: 50}
	}
	return at
}

// provoke does what makes processes send a kind of message that is rare.
func (r *rig) provoke(id wire.ID, n int) {
	switch id {
	case wire.OfferID, wire.CellLostID, wire.RefuseRealID, wire.LookID, wire.SeenID, wire.MournedID:
		if on := r.cellApps[n%len(r.cellApps)]; on.alive && n%3 == 0 {
			on.crash()
			on.restartAt = r.now + 500*time.Millisecond
		}
	case wire.FlowInquiryID, wire.FlowRemainderID: // these come when all have been silent for long
		if n == 8 {
			r.fallSilent()
		}
	case wire.ProbeID, wire.GhostQueryID, wire.GhostStateID, wire.GhostUpdateID, wire.GhostDeleteID:
		for b := range r.bases() {
			s, ok := b.script().(*rockBase)
			switch {
			case !ok:
			case !b.HasCell:
				_ = s.lay(r.near(float64(n*20%120 - 60)))
			case n%4 == 3:
				_ = s.DestroyCell()
			case n%2 == 1:
				to := r.near(float64(n*30%120 - 60))
				_ = s.Cell().Call("roll", to.X, to.Z)
			default:
				_ = s.Cell().Call("crack")
			}
		}
	}
}

// fallSilent ends all calls.
func (r *rig) fallSilent() {
	r.world.hush = true
	for _, pl := range r.players {
		pl.quiet = true
	}
}

// provoked loses the messages whose loss makes processes ask.
func (r *rig) provoked(id wire.ID, msg []byte) []byte {
	switch {
	case id == wire.ProbeID && wire.ID(msg[0]) == wire.CellLostID, id == wire.GhostQueryID && wire.ID(msg[0]) == wire.GhostStateID:
		return nil
	}
	return msg
}
