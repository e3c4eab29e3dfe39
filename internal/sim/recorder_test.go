package sim

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// recorder writes down what processes say to each other while a script runs: one line for each
// message that tells the story, in the order in which they arrive. It names processes and the
// entity of the story, never addresses or times, and leaves out what is said all the time, so that
// a transcript changes only if the interaction does.
type recorder struct {
	r     *rig
	story entity.ID // the entity that the story is about: the first one named
	lines []line
	old   map[string]bool // what has been said, of the periodic messages
}

// line is a message, or if from is nil a remark of the script or a hook that was called.
type line struct {
	hook bool
	at   time.Duration
	from *Process
	to   []*Process
	text string
}

// record begins to write down what is said from now on.
func (r *rig) record() *recorder {
	rec := &recorder{r: r, old: map[string]bool{}}
	r.opts.Tamper = rec.hear
	r.world.hooked = rec.hooked
	return rec
}

// begin forgets what was written down, but remembers what is no longer news.
func (rec *recorder) begin() { rec.lines = nil }

// stop ends the transcript.
func (rec *recorder) stop() { rec.r.opts.Tamper, rec.r.world.hooked = nil, nil }

// hooked writes down that a hook of a player's cell script was called.
func (rec *recorder) hooked(id entity.ID, hook string) {
	if id == rec.story {
		rec.lines = append(rec.lines, line{hook: true, text: heroine + "'s script: " + hook})
	}
}

// remark says what the script does.
func (rec *recorder) remark(format string, args ...any) {
	rec.lines = append(rec.lines, line{text: fmt.Sprintf(format, args...)})
}

// hear is a Tamper that changes nothing.
func (rec *recorder) hear(p *Process, ch mercury.ChannelID, reliable bool, msg []byte) []byte {
	from := rec.r.peer(p, ch)
	switch {
	case !reliable, from == nil, from.Name == "observer", p.Name == "observer":
	case from.Name == "guest", p.Name == "guest":
		rec.demand(from, p, protocol.Messages(msg, func(id protocol.ID, body []byte) error {
			return rec.add(from, p, uint8(id), rec.client(id), body)
		}))
	default:
		id, body, err := wire.Split(msg)
		var on wire.Onward
		if id == wire.OnwardID && on.Parse(body) == nil {
			id, body, err = wire.Split(on.Message) // told like any
		}
		if err == nil {
			err = rec.add(from, p, uint8(id), rec.control(id), body)
		}
		rec.demand(from, p, err)
	}
	return msg
}

func (rec *recorder) demand(from, to *Process, err error) {
	if err != nil {
		rec.r.t.Errorf("%s to %s: %v", from.Name, to.Name, err)
	}
}

// errUntold is why a new message fails the test: somebody has to decide whether to tell it.
var errUntold = errors.New("the recorder does not know whether to tell it")

// add writes a message down. What one process says to several at the same moment makes one line.
func (rec *recorder) add(from, to *Process, id uint8, tell teller, body []byte) error {
	if tell == nil {
		return fmt.Errorf("message %d: %w", id, errUntold)
	}
	text, err := tell(body)
	if err != nil || text == "" {
		return err
	}
	for i := range rec.lines {
		l := &rec.lines[i]
		if l.at == rec.r.now && l.from == from && l.text == text && !slices.Contains(l.to, to) {
			l.to = append(l.to, to)
			return nil
		}
	}
	rec.lines = append(rec.lines, line{at: rec.r.now, from: from, to: []*Process{to}, text: text})
	return nil
}

// String is the transcript.
func (rec *recorder) String() string {
	var b strings.Builder
	for _, l := range rec.lines {
		if l.hook {
			fmt.Fprintf(&b, "%s%s\n", strings.Repeat(" ", widest+2), l.text)
			continue
		}
		if l.from == nil {
			fmt.Fprintf(&b, "\n%s\n", l.text)
			continue
		}
		var to []string
		for _, p := range rec.r.procs {
			if slices.Contains(l.to, p) {
				to = append(to, title(p))
			}
		}
		way := title(l.from) + " → " + strings.Join(to, ", ")
		fmt.Fprintf(&b, "%s%s  %s\n", way, strings.Repeat(" ", max(0, widest-utf8.RuneCountInString(way))), l.text)
	}
	return strings.TrimLeft(b.String(), "\n")
}

// widest is the longest that the sender and the receiver of a message between two processes can be.
const widest = len("BaseAppMgr > CellAppMgr")

// title names a process as the documentation does.
func title(p *Process) string {
	kind := strings.TrimRight(p.Name, "0123456789")
	number := strings.TrimPrefix(p.Name, kind)
	switch kind {
	case "cellappmgr":
		return wire.CellAppMgr.String()
	case "cellapp":
		return wire.CellApp.String() + number
	case "baseappmgr":
		return wire.BaseAppMgr.String()
	case "baseapp":
		return wire.BaseApp.String() + number
	case "loginapp":
		return wire.LoginApp.String()
	case "guest":
		return "client"
	}
	return p.Name
}

// app names a process by its address.
func (rec *recorder) app(a mercury.Address) string {
	if p := rec.r.byPlace[a.At]; p != nil {
		return title(p)
	}
	return "nobody"
}

func (rec *recorder) apps(refs []wire.AppRef) string {
	if len(refs) == 0 {
		return "nobody"
	}
	var names []string
	for _, a := range refs {
		names = append(names, rec.app(a.App))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// entity names the entity of the story by its name, and others by their ids.
func (rec *recorder) entity(id entity.ID) string {
	if rec.story == 0 {
		rec.story = id
	}
	if id == rec.story {
		return heroine
	}
	return id.String()
}

func (rec *recorder) real(id entity.ID, o entity.Order) string {
	return fmt.Sprintf("%s %v", rec.entity(id), o)
}

// teller says in a few words what the body of a message says, or "" if that is not worth telling.
type teller func(body []byte) (string, error)

// tell is the teller of a message that parses itself.
func tell[M any, P interface {
	*M
	Parse(body []byte) error
}](say func(m P) string) teller {
	return func(body []byte) (string, error) {
		m := P(new(M))
		if err := m.Parse(body); err != nil {
			return "", err
		}
		return say(m), nil
	}
}

// word is the teller of a message whose name says everything.
func word(name string) teller {
	return func([]byte) (string, error) { return name, nil }
}

// news returns the text of a message that is sent again and again, but only once.
func (rec *recorder) news(text string) string {
	if rec.old[text] {
		return ""
	}
	rec.old[text] = true
	return text
}

// client is the teller of a message between a client and the cluster, or nil if there is none. What
// an entity does, says and shows is left out.
func (rec *recorder) client(id protocol.ID) teller {
	switch id {
	case protocol.LoginID:
		return tell(func(m *protocol.Login) string { return fmt.Sprintf("Login %q", m.User) })
	case protocol.LoginOKID:
		return tell(func(m *protocol.LoginOK) string { return "LoginOK: go to " + rec.app(m.Doors[0].Address) })
	case protocol.RefusedID:
		return tell(func(m *protocol.Refused) string { return "Refused: " + m.Code.String() })
	case protocol.WaitingID:
		return tell(func(m *protocol.Waiting) string { return fmt.Sprintf("Waiting: %d of %d", m.Position, m.Of) })
	case protocol.AttachID:
		return word("Attach with the token")
	case protocol.ResumeID:
		return word("Resume with the token")
	case protocol.ResumedID:
		return word("Resumed")
	case protocol.LogoutID:
		return word("Logout")
	case protocol.AttachedID:
		return word("Attached")
	case protocol.BasePlayerID:
		return tell(func(m *protocol.BasePlayer) string { return "BasePlayer " + rec.entity(m.ID) })
	case protocol.ResetID:
		return word("Reset: forget all but the base part")
	case protocol.CellPlayerID:
		return tell(func(m *protocol.CellPlayer) string {
			return fmt.Sprintf("CellPlayer in space %d, incarnation %d", m.Space, m.Incarnation)
		})
	case protocol.CellGoneID:
		return word("CellGone")
	case protocol.LeaveSpaceID:
		return word("LeaveSpace: forget the old place")
	case protocol.TransitID:
		return tell(func(m *protocol.Transit) string { return fmt.Sprintf("Transit with %d companions", len(m.Companions)) })
	case protocol.ArrivedID:
		return word("Arrived: all near by are told")
	case protocol.BundleID, protocol.BasePropertyID, protocol.OwnPropertyID, protocol.EnterID, protocol.LeaveID, protocol.KeepID, protocol.ReturnID,
		protocol.ChangesID, protocol.CallID, protocol.RestID, protocol.RideID, protocol.SpaceDataID, protocol.MoveID,
		protocol.AheadID, protocol.HeardID, protocol.SettledID, protocol.FallbackID, protocol.PingID, protocol.PongID:
		return word("")
	}
	if protocol.IsOwnValue(id) {
		return word("")
	}
	return nil
}

// control is the teller of a message between processes, or nil if there is none. Reports, places
// and the traffic of entities are left out.
func (rec *recorder) control(id wire.ID) teller {
	for _, of := range []func(wire.ID) teller{rec.ofMembers, rec.ofPlayers, rec.ofCells, rec.ofReals} {
		if t := of(id); t != nil {
			return t
		}
	}
	switch id {
	case wire.ReportID, wire.CellsReportID, wire.GhostUpdateID, wire.GhostRollID, wire.ClientMoveID, wire.SteerID, wire.ClientPacketID,
		wire.FlowAckID, wire.FlowInquiryID, wire.FlowRemainderID, wire.BaseLoadID:
		return word("")
	}
	return nil
}

// ofMembers tells who belongs to the cluster.
func (rec *recorder) ofMembers(id wire.ID) teller {
	switch id {
	case wire.JoinID:
		return tell(func(m *wire.Join) string {
			if m.Term == 0 {
				return "Join"
			}
			return fmt.Sprintf("Join: I was welcomed by term %d", m.Term)
		})
	case wire.WelcomeID:
		return tell(func(m *wire.Welcome) string { return fmt.Sprintf("Welcome to term %d", m.Term) })
	case wire.RefusedID:
		return tell(func(m *wire.Refused) string { return "Refused: " + m.Reason })
	case wire.DismissedID:
		return tell(func(m *wire.Dismissed) string { return "Dismissed: " + m.Reason })
	case wire.FreezeID:
		return tell(func(m *wire.Freeze) string { return fmt.Sprintf("Freeze %t", m.On) })
	case wire.AppDeadID:
		return tell(func(m *wire.AppDead) string { return "AppDead " + rec.app(m.App) })
	case wire.LookID:
		return tell(func(m *wire.Look) string { return "Look at " + rec.app(m.App) })
	case wire.SeenID:
		return tell(func(m *wire.Seen) string { return fmt.Sprintf("Seen %s: %v", rec.app(m.App), m.Reach) })
	case wire.MournedID:
		return tell(func(m *wire.Mourned) string { return "Mourned " + rec.app(m.App) })
	case wire.MembersID:
		return tell(func(m *wire.Members) string { return "Members " + rec.apps(m.Apps) })
	case wire.RejoinID:
		return tell(func(m *wire.Rejoin) string {
			return fmt.Sprintf("Rejoin as number %d, counts on %s", m.Number, rec.apps(m.Peers))
		})
	case wire.RejoinCellID:
		return tell(func(m *wire.RejoinCell) string {
			return fmt.Sprintf("RejoinCell %v of space %d, geometry %v", m.Cell, m.Space, m.Version)
		})
	case wire.NamesID:
		return tell(func(m *wire.Names) string { return fmt.Sprintf("Names, %d", len(m.Entries)) })
	case wire.RejoinEndID:
		return tell(func(m *wire.RejoinEnd) string { return fmt.Sprintf("RejoinEnd, cells %d", m.Cells) })
	}
	return nil
}

// ofPlayers tells how accounts get their proxies.
func (rec *recorder) ofPlayers(id wire.ID) teller {
	switch id {
	case wire.CreateProxyID:
		return tell(func(m *wire.CreateProxy) string { return fmt.Sprintf("CreateProxy for %q", m.Account) })
	case wire.MakeProxyID:
		return tell(func(m *wire.MakeProxy) string { return fmt.Sprintf("MakeProxy for %q", m.Account) })
	case wire.OutdoneID:
		return tell(func(m *wire.Outdone) string {
			return fmt.Sprintf("Outdone: %q is %v's in turn %d", m.Account, m.ID, m.Turn)
		})
	case wire.NameLostID:
		return tell(func(m *wire.NameLost) string { return fmt.Sprintf("NameLost: %q of %v", m.Name, m.ID) })
	case wire.ReloginID:
		return tell(func(m *wire.Relogin) string { return fmt.Sprintf("Relogin of %q", m.Account) })
	case wire.ProxyMadeID:
		return tell(func(m *wire.ProxyMade) string {
			if m.Code != 0 {
				return "ProxyMade: no, " + protocol.Code(m.Code).String()
			}
			return fmt.Sprintf("ProxyMade: %s on %s", rec.entity(m.ID), rec.app(m.Doors[0].Address))
		})
	case wire.ProxyGoneID:
		return tell(func(m *wire.ProxyGone) string { return fmt.Sprintf("ProxyGone of %q", m.Account) })
	case wire.ProxiesID:
		return tell(func(m *wire.Proxies) string { return fmt.Sprintf("Proxies, %d of them", len(m.Entries)) })
	case wire.LoginsID:
		return tell(func(m *wire.Logins) string { return fmt.Sprintf("Logins, refused %t", m.Refused) })
	}
	return nil
}

// ofCells tells who runs which part of a space.
func (rec *recorder) ofCells(id wire.ID) teller {
	switch id {
	case wire.AddCellID:
		return tell(func(m *wire.AddCell) string { return fmt.Sprintf("AddCell %v of space %d", m.Cell, m.Space) })
	case wire.CellCreatedID:
		return tell(func(m *wire.CellCreated) string { return fmt.Sprintf("CellCreated %v of space %d", m.Cell, m.Space) })
	case wire.RemoveCellID:
		return tell(func(m *wire.RemoveCell) string { return fmt.Sprintf("RemoveCell %v of space %d", m.Cell, m.Space) })
	case wire.CellGoingID:
		return tell(func(m *wire.CellGoing) string { return fmt.Sprintf("CellGoing %v of space %d", m.Cell, m.Space) })
	case wire.RemovalAckID:
		return tell(func(m *wire.RemovalAck) string { return fmt.Sprintf("RemovalAck %v of space %d", m.Cell, m.Space) })
	case wire.CellRemovedID:
		return tell(func(m *wire.CellRemoved) string { return fmt.Sprintf("CellRemoved %v of space %d", m.Cell, m.Space) })
	case wire.GeometryID:
		return tell(func(m *wire.Geometry) string {
			h, _ := bsp.ParseHead(m.Tree)
			return fmt.Sprintf("Geometry %v of space %d", h.Version, m.Space)
		})
	case wire.GeometryLackedID:
		return tell(func(m *wire.GeometryLacked) string { return fmt.Sprintf("GeometryLacked of space %d", m.Space) })
	case wire.SpaceDataID:
		return tell(func(m *wire.SpaceData) string { return datum("SpaceData", m.Space, m.Entry.Key, m.Entry.Removed) })
	case wire.SpaceCopyID:
		return tell(func(m *wire.SpaceCopy) string {
			switch {
			case m.Gone && m.Space == 0:
				return "SpaceCopy: all others are gone"
			case m.Gone:
				return fmt.Sprintf("SpaceCopy of space %d: gone", m.Space)
			}
			return fmt.Sprintf("SpaceCopy of space %d", m.Space)
		})
	case wire.SetSpaceDataID:
		return tell(func(m *wire.SetSpaceData) string { return datum("SetSpaceData", m.Space, m.Key, m.Removed) })
	case wire.SpaceDataSetID:
		return tell(func(*wire.SpaceDataSet) string { return "" }) // an ack
	}
	return nil
}

// datum tells an entry of a space's data.
func datum(what string, in entity.SpaceID, key uint16, removed bool) string {
	name := fmt.Sprintf("key %d", key)
	if key == spacekey.LostArea {
		name = "a lost area"
	}
	if removed {
		name += ", removed"
	}
	return fmt.Sprintf("%s of space %d: %s", what, in, name)
}

// ofReals tells where the parts of an entity are.
func (rec *recorder) ofReals(id wire.ID) teller {
	switch id {
	case wire.LocateID:
		return tell(func(m *wire.Locate) string {
			return fmt.Sprintf("Locate a cell of space %d for %s", m.Space, rec.entity(m.ID))
		})
	case wire.LocatedID:
		return tell(func(m *wire.Located) string {
			return fmt.Sprintf("Located: %s for %s", rec.app(m.App), rec.entity(m.ID))
		})
	case wire.CreateID:
		return tell(func(m *migrate.Create) string {
			if m.Restored {
				return fmt.Sprintf("Create %s from its backup", rec.real(m.ID, m.Order))
			}
			return "Create " + rec.real(m.ID, m.Order)
		})
	case wire.CurrentID:
		return tell(func(m *migrate.Current) string { return rec.news("Current " + rec.real(m.ID, m.Order)) })
	case wire.OnloadID:
		return tell(func(m *migrate.Onload) string { return "Onload " + rec.real(m.ID, m.Order) })
	case wire.OnloadAckID:
		return tell(func(m *migrate.OnloadAck) string { return "OnloadAck " + rec.real(m.ID, m.Order) })
	case wire.OnloadRefusedID:
		return tell(func(m *migrate.OnloadRefused) string {
			return "OnloadRefused " + rec.real(m.ID, m.Order) + ": " + m.Code.String()
		})
	case wire.RefuseRealID:
		return tell(func(m *migrate.Refuse) string { return "RefuseReal " + rec.real(m.ID, m.Order) })
	case wire.OfferID:
		return tell(func(m *migrate.Offer) string { return "Offer " + rec.real(m.ID, m.Order) })
	case wire.CellLostID:
		return tell(func(m *migrate.Lost) string { return "CellLost " + rec.real(m.ID, m.Order) + ": " + m.Reason })
	case wire.GhostStateID:
		return tell(func(m *ghost.State) string { return "GhostState " + rec.real(m.ID, m.Order) })
	case wire.GhostWatchedID:
		return tell(func(m *ghost.Watched) string {
			if m.On {
				return "GhostWatched " + rec.real(m.ID, m.Order)
			}
			return "GhostWatched no more: " + rec.real(m.ID, m.Order)
		})
	case wire.GhostDeleteID:
		return tell(func(m *ghost.Delete) string { return "GhostDelete " + rec.real(m.ID, m.Order) })
	case wire.FlowID:
		return tell(rec.ofFlow)
	}
	return nil
}

// ofFlow tells of the messages between the parts of an entity only those that begin and end
// something.
func (rec *recorder) ofFlow(m *flow.Message) string {
	p, body, err := flow.SplitPayload(m.Payload)
	if err != nil {
		return ""
	}
	switch p {
	case flow.SetClientPayload:
		return fmt.Sprintf("Flow: the client of %s has come or gone", rec.entity(m.To))
	case flow.BackupPayload:
		var b flow.Backup
		if b.Parse(body) != nil {
			return ""
		}
		return rec.news("Flow: backup of " + rec.real(m.From, b.Order))
	case flow.DestroyPayload, flow.EndPayload:
		return fmt.Sprintf("Flow: destroy %s", rec.entity(m.To))
	case flow.GonePayload:
		return fmt.Sprintf("Flow: %s was destroyed", rec.entity(m.From))
	}
	return ""
}
