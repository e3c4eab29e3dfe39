package wire_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/entity/shared"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/gametime"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster/status"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

var (
	addr4 = mercury.Address{At: netip.MustParseAddrPort("10.1.2.3:20013"), Salt: 0xdeadbeef}
	addr6 = mercury.Address{At: netip.MustParseAddrPort("[2001:db8::7]:443"), Salt: 7}
	order = entity.Order{Incarnation: 3, Hop: 300}
	head  = ghost.Head{ID: 1<<52 + 9, Order: order, Sequence: 1 << 31}
	here  = property.Vector3{X: -1.5, Y: 2, Z: 1 << 19}
	there = property.Vector3{X: 0.25, Y: -3, Z: 1e-9}
	ride  = presence.Ride{Vehicle: 6, Stamp: 7, Since: 5, Seat: presence.Spot{Position: there, Direction: here}}
)

const id = entity.ID(5<<32 | 77)

// samples holds one message of each type, no field zero.
func samples() []wire.Received {
	report := wire.Report{CPU: time.Hour, PID: 1 << 22, ProcessCPU: 2 * time.Hour, Ticks: 1 << 40, Late: 3, Clients: 4, Bases: 1<<32 - 1, Proxies: 1 << 20, NoRoom: true, Store: "ok", Unprotected: 7, Copies: 1 << 31, Pending: 6, Counters: counters(),
		Backlog:  wire.Backlog{To: addr6, Bytes: 5 << 20, Limit: 8 << 20, Held: 3},
		Unsent:   wire.SendErrors{{Reason: wire.SendGone, ID: wire.FlowID, Count: 2}, {Reason: wire.SendFull, ID: wire.OnloadID, Count: 1 << 40}},
		Received: wire.Tally{wire.FlowID: 1 << 40, wire.LoginsID: 2}}
	unsent := []status.Unsent{{Reason: "full", Message: "Freeze", Count: 1 << 40, Fault: true}}
	carrier := status.Carrier{Network: "websocket", Outer: true, Sealed: true, Address: addr4.String(), Name: "a.example", RTT: 2, Loss: 0.25, Counts: status.Counts{"mercury.Moved": 2, "udp.Overflow": 1 << 40}}
	for i, n := range carrier.Numbers() {
		*n = uint64(i + 1)
	}
	report.Carriers = []status.Carrier{carrier, carrier}
	report.Counts = status.Counts{"call.TimedOut": 3, "loginapp.Waiting": 1 << 40}
	report.Types = []wire.TypeLoad{{Type: "Monster", Reals: 1 << 20, Load: 1 << 39}, {Type: "Avatar", Reals: 3, Load: 2}}
	report.Traffic = []status.PropertyTraffic{{Type: "Monster", Property: "aim", Way: "to other clients", Changes: 1 << 40, Bytes: 1 << 42}, {Type: "Avatar", Property: "hp", Way: "to ghosts", Changes: 1, Bytes: 2}}
	for i := range report.TickTimes {
		report.TickTimes[i] = uint64(i + 1)
	}
	for i, n := range report.Told.Numbers() {
		*n = uint64(i + 1)
	}
	world := status.World{
		GameTime: 1.5, Received: map[string]uint64{"Freeze": 1 << 40},
		Spaces: []status.Space{{
			ID: 1, Version: bsp.Version{Term: 1, N: 2}, GameTime: 1.25, Rate: 0.75,
			Cells: []status.Cell{{Cell: "1.1", App: 1, Rect: [4]float64{-1, -2, 3, 4}, Load: 0.5, Reals: 6, Ghosts: 7, Created: true,
				Loading: true, Retiring: true, Overloaded: true, Crowd: &[4]float64{1, 2, 3, 4}, Loaded: &[4]float64{5, 6, 7, 8}}},
			Lines: []status.Line{{Vertical: true, At: 1, From: 2, To: 3, Moved: -4, Average: .5, Aggression: .25, Direction: -1, Depth: 2}},
		}},
		Apps:       []status.App{{Role: "CellApp", Number: 1, Address: addr4.String(), Load: 0.25, CPU: 9, PID: 77, ProcessCPU: 10.5, SavingStep: 3, Saving: &status.Saving{Budget: .5, Detail: 1, Rate: 1}, Backlog: "10.0.0.1:2", Full: 0.5, Unsent: unsent, Carriers: report.Carriers, Told: &report.Told, Types: []status.TypeLoad{{Type: "Monster", Reals: 7, Load: 0.25}}, Traffic: report.Traffic, Store: "ok", Counts: report.Counts}},
		SpaceCount: 9, Cells: 1, Retiring: 3, CellsAdded: 2, CellsRemoved: 4, Removing: 1, LinesMoved: 3, Reals: 4, Ghosts: 5, Clients: 6, Unprotected: 9, RulesPending: 2, Deaths: 7, LoginsRefused: true, Ticks: 8, Late: 9,
		TickTimes: report.TickTimes, CPU: 10, Pending: 11, ReportsSinceFreeze: 12, Counters: counters(), Unsent: unsent, Told: report.Told,
	}
	reals := []load.Sample{{X: 1, Z: 2, Load: 3}, {X: -10, Z: 9, Load: 5}, {X: 4, Z: 4, Load: 1}}
	profile, edges := load.Build(reals), new(load.Builder).Edges(reals, 4)
	cell := bsp.CellID{Term: 2, N: 1 << 20}
	clock := gametime.Clock{Number: 2<<32 | 7, At: time.Hour, Game: time.Minute, Rate: 750}
	entry := space.DataEntry{Number: 1 << 50, Key: 0xabcd, ID: 1 << 50, Removed: true, Value: []byte("rain"), By: 1 << 30, Said: 1 << 40}
	named := entry
	named.Key, named.Name = spacekey.Service, "Chat/7"
	rule := migrate.Rule{Version: 1 << 33, Covers: 1 << 34, Replicas: 2, List: []mercury.Address{addr4, addr6}}
	return []wire.Received{
		&wire.Welcome{Number: 1, Allocator: 2, Term: 3, GameTime: time.Minute, CellAppMgr: addr4, BaseAppMgr: addr6, DBApp: addr4, Stores: true},
		&wire.Refused{Reason: "other definitions"},
		&wire.BaseLoad{Bases: 1 << 31, CPU: 5 * time.Hour}, &wire.PlaceBase{Request: 1 << 40}, &wire.BasePlaced{Request: 7, App: addr6},
		&wire.CreateBase{Request: 1 << 40, On: addr4, NewBase: wire.NewBase{Number: 9, Type: 3, Props: []byte("props")}},
		&wire.MakeBase{Request: 1 << 40, Asker: addr4, NewBase: wire.NewBase{Number: 9, Type: 3, Props: []byte("props")}},
		&wire.BaseMade{Request: 1 << 40, ID: id, Reason: "full", Gone: true},
		&migrate.OnloadParty{List: []migrate.Onload{{ID: id, Type: 2, Space: 3, Order: order, Base: addr4, Title: 9, Decided: migrate.Geometry{Term: 1, N: 2}, Serial: 1 << 40, Low: 1 << 39, Arrival: migrate.Arrival{From: 5, Near: 6, Position: property.Vector3{X: 1, Y: 2, Z: 3}, Direction: property.Vector3{X: 4, Y: 5, Z: 6}, Transition: true}, Parts: []byte("parts")}}},
		&wire.Whereis{ID: id, Asker: 8}, &wire.Whereabouts{ID: id, Asker: 8, App: addr4, Gone: true},
		&wire.RegisterName{Request: 1 << 40, Name: "guild of thieves", ID: id, Type: 3, Life: 2, Claim: true}, &wire.FindName{Request: 8, Name: "auction"},
		&wire.NameHeld{Request: 1 << 40, ID: id, Type: 4, App: addr6, Reason: "too many"},
		&wire.Inherited{App: addr4, Turn: 3}, &wire.Leaving{Bases: 2}, &wire.Depart{Request: 3, Part: migrate.Part{Turn: 1, Slices: 1 << 63, Below: id, To: addr4}}, &wire.Departed{Request: 3, Reason: "x", Number: 7}, &wire.BasesMoved{App: addr4, Number: 9, Allocator: 2, Rule: migrate.Rule{Version: 3, Covers: 2, Replicas: 1, List: []mercury.Address{addr4}}, Part: migrate.Part{Turn: 2, Slices: 5, Below: id, To: addr4}}, &wire.Shed{To: addr4, Bases: 12}, &wire.BaseDoors{Doors: []protocol.Door{{Network: protocol.UDP, Address: addr4, Name: "x"}}}, &wire.NameGone{Name: "auction", ID: id}, &wire.NameLost{Name: "auction", ID: id, Holder: 9, Type: 4, App: addr4}, &wire.Names{Entries: []wire.Named{{Name: "a", ID: id, Type: 5, Life: 2, Claim: true}, {Name: "b", ID: 1, Type: 6, Life: 7, Claim: true}}, Last: true},
		&wire.Members{Apps: []wire.AppRef{{Role: wire.CellApp, App: addr4}, {Role: wire.BaseApp, App: addr6}}, Allocators: []uint32{7, 1 << 20}},
		&wire.AppDead{Role: wire.BaseApp, App: addr4, Mourners: []mercury.Address{addr6, addr4}, Number: 1 << 40, Allocator: 1 << 20, Rule: rule},
		&wire.Alive{}, &wire.Look{Inquiry: 1 << 40, App: addr4}, &wire.Seen{Inquiry: 1 << 40, App: addr6, Reach: mercury.ReachSilent}, &wire.Mourned{App: addr4},
		&wire.LeaseAsk{Speaks: wire.Spoken(), Digest: [16]byte{15: 1}, Term: 200, Round: 1 << 40, Leaving: true}, &wire.LeaseVote{Term: 200, Round: 1 << 40, Granted: true, Highest: 201},
		&wire.Freeze{On: true},
		&wire.Dismissed{Term: 7, Reason: "declared dead"},
		&wire.SpaceDestroyed{Request: 1 << 40, Reason: "configured"},

		&wire.Join{Speaks: wire.Spoken(), Role: wire.BaseApp, Digest: [16]byte{1, 2, 3, 15: 9}, Term: 300},
		&report,
		&wire.CellsReport{Further: true, Load: 1 << 33, SavingStep: 7, Saves: [3]uint16{500, 600, 700}, Time: time.Hour, Cells: []wire.CellReport{
			{Space: 1, Cell: cell, Version: bsp.Version{Term: 2, N: 3}, Load: -4, Gained: -1 << 40, Reals: 5, Ghosts: 6, Handoffs: 7, Held: true, Occupied: true, Rate: 640, Clock: 1 << 33, Loaded: bsp.Rect{MinX: -1, MinZ: 1, MaxX: 2, MaxZ: 3}, Profile: profile, Edges: edges},
			{Space: 7, Cell: cell, Version: bsp.Version{Term: 2, N: 9}, Load: 10, Gained: 1 << 40, Reals: 11, Ghosts: 12, Handoffs: 13, Held: true, Occupied: true, Rate: 1000, Clock: 5, Loaded: bsp.Rect{MinX: 1, MinZ: 2, MaxX: 3, MaxZ: 4}, Profile: profile, Edges: edges},
		}},
		&wire.CellCreated{Space: 1 << 31, Cell: cell},
		&wire.Locate{ID: id, Space: 3, Position: here},
		&wire.LocateArea{Gateway: 9, Space: 3, Area: bsp.Rect{MinX: -4, MinZ: 1, MaxX: 5, MaxZ: 2}},
		&wire.LocatedArea{Gateway: 9, Space: 3, Apps: []mercury.Address{addr4, addr6}},
		&wire.SetSpaceData{Space: 3, Key: 4, ID: 1 << 50, Removed: true, Value: []byte{0, 1}, Said: 1 << 40, Late: true, Seen: 1 << 50, Same: true},
		&wire.CellRemoved{Space: 4, Cell: cell},
		&wire.RetireApp{Reason: "new hardware"},
		&wire.AppSilent{App: addr4},
		&wire.GeometryLacked{Space: 3, From: bsp.Version{Term: 2, N: 1 << 20}},
		&wire.CreateSpace{Request: 1 << 40, Number: 1 << 41, Info: entity.SpaceInfo{
			Bounds: bsp.Rect{MinX: -1, MinZ: -2, MaxX: 3, MaxZ: 4}, MinCells: 1, MaxCells: 1 << 20,
			Geometry: bsp.Rect{MinX: -5, MinZ: -6, MaxX: 7, MaxZ: 8}, MinLoad: 0.25, Keep: true, MaxEntities: 99, KeepFor: -time.Minute, Data: []entity.SpaceDatum{{Key: 7, ID: 9, Removed: true, Value: []byte("hard")}}}},
		&wire.DestroySpace{Request: 1 << 40, Space: 1<<24 + 1},
		&wire.Rejoin{Number: 9, Allocator: 1 << 20, GameTime: time.Hour, Frozen: true, Stopping: wire.StopHeld, StopReason: "an update", Retiring: true,
			Graves: []wire.AppRef{{Role: wire.CellApp, App: addr4}, {Role: wire.BaseApp, App: addr6}}, Peers: []wire.AppRef{{Role: wire.BaseApp, App: addr4}}},
		&wire.RejoinCell{Space: 3, Cell: cell, Version: bsp.Version{Term: 2, N: 3}, Tree: []byte("tree"), Data: []space.DataEntry{entry, entry}, Info: []byte("info"), Clock: clock, Ended: true},
		&wire.RejoinRule{App: addr4, Departed: 1 << 40, Allocator: 1 << 20, Rule: rule, Part: migrate.Part{Turn: 2, Slices: 5, Below: id, To: addr4}},
		&wire.RejoinEnd{Cells: 300, Rules: 1 << 20, Spaces: 1 << 10},
		&wire.SpaceCopy{Space: 3, Gone: true, Info: []byte{1, 2}, Data: []space.DataEntry{entry}},
		&migrate.BaseCopy{ID: id, Number: 1 << 40, Cycle: 1 << 33, Parts: []byte("parts")}, &migrate.BaseCopyHeld{ID: id, Number: 1 << 40, Refused: true},
		&migrate.BaseGone{ID: id}, &migrate.BaseForgotten{ID: id}, &migrate.CopyMark{Cycle: 1 << 33, Version: 1 << 40},
		&migrate.BackupRule{Rule: rule}, &migrate.BackupRuleHeld{Version: 1 << 40, Turn: 3},

		&wire.AddCell{Space: 3, Cell: cell, First: true, FromStore: true, Tree: []byte("tree"), Data: []space.DataEntry{entry, entry}, Clock: clock, Info: []byte("info")},
		&wire.Geometry{Space: 3, Tree: []byte("tree")},
		&wire.SpaceData{Space: 3, Entry: entry}, &wire.SharedData{Last: 1 << 50, Data: []space.DataEntry{named}},
		&wire.ReadWatch{Number: 1 << 40, Role: wire.BaseApp, App: 7, Path: "copies", After: "copies/held", List: true},
		&wire.SetWatch{Number: 1 << 40, Role: wire.DBApp, App: 7, Path: "log/level", Text: "DEBUG"},
		&wire.Watched{Number: 1 << 40, Fault: watch.Refused, Reason: "take 1 to 9", More: true,
			Values: []watch.Value{{Path: "a/b", Text: "1", About: "a number", Writable: true}, {Path: "a/c", Text: "2", About: "another", Writable: true}}},
		&wire.SpaceDataSet{Said: 1 << 40, Made: 1 << 39},
		&wire.RemoveCell{Space: 3, Cell: cell, Ended: true, Peers: []mercury.Address{addr4, addr6}},
		&wire.CellGoing{Space: 3, Cell: cell, App: addr6},
		&wire.RemovalAck{Space: 3, Cell: cell},
		&wire.Retired{Number: 9},
		&ghost.State{Head: head, Type: 2, Space: 3, Base: addr6, MoveStamp: 4, Control: presence.Control{By: 6, Number: 7}, Aspect: 1, Position: here, Direction: there, Props: []byte("props"), History: []byte("past"), Answers: 4, Ride: ride},
		&ghost.Update{Head: head, After: 3, MoveStamp: 4, Position: here, Direction: there, Control: presence.Control{By: 6, Number: 7}, Changes: []ghost.Change{
			{Number: 5, Event: true, Index: 6, Payload: []byte("args")}, {Number: 7, Event: true, Index: 8, Payload: []byte("more")},
		}, Ride: ride},
		&ghost.Delete{Head: head, Ended: true},
		&ghost.Watched{Head: head, On: true},
		&ghost.Audit{Head: head, Sum: 1 << 63},
		&ghost.Query{Head: head, Asker: mercury.Address{At: netip.MustParseAddrPort("10.0.0.9:900"), Salt: 9}, Asked: 3, Hops: 2},
		&ghost.Roll{Space: 3, Calls: []ghost.Call{{Head: head, After: 2}, {Head: head, After: 3}}},
		&migrate.Probe{ID: id, Order: order, Base: addr4, Hops: 1},
		&migrate.Onload{ID: id, Type: 2, Space: 3, Order: order, Base: addr4, Title: 9, Decided: migrate.Geometry{Term: 1, N: 2}, Serial: 1 << 40, Low: 1 << 39, Arrival: migrate.Arrival{From: 5, Near: 6, Position: property.Vector3{X: 1, Y: 2, Z: 3}, Direction: property.Vector3{X: 4, Y: 5, Z: 6}, Transition: true}, Parts: []byte("parts")},
		&migrate.OnloadAck{ID: id, Order: order, Elsewhere: true},
		&migrate.OnloadRefused{ID: id, Order: order, Code: placement.Full, Reason: "full"},
		&migrate.Create{ID: id, Type: 2, Space: 3, Order: order, Base: addr4, Title: 9, Session: flow.Session{Number: 4, Room: 920, Rate: 8000, Away: true}, Handled: 5, Heard: 6, Restored: true, Parts: []byte("parts"),
			Pass: []flow.Culprit{{From: id, FromPart: entity.CellPart, Mark: 7}}},
		&migrate.Refuse{ID: id, Order: order},
		&wire.SpaceRate{Space: 3, Clock: clock},
		&wire.Steer{Steer: flow.Steer{Target: id, By: 9, Passed: true, Session: 2, Sequence: 3, Incarnation: 4, Forced: 5, Position: here, Direction: there}},
		&wire.ClientMove{ID: id, ClientRest: flow.ClientRest{Session: 2, Sequence: 3, Incarnation: 4, Forced: 5, Seen: []byte{5, 6}, Still: true, Position: here, Direction: there}},
		&wire.Onward{Past: order, Message: wire.Encode(nil, &flow.Ack{To: id, ToPart: entity.CellPart, From: id, FromPart: entity.BasePart, Incarnation: 1})},

		&flow.Message{From: id, FromPart: entity.BasePart, To: id + 1, ToPart: entity.CellPart, Incarnation: 2, Low: 3, Number: 1 << 40, Born: 1, Reply: addr4, Payload: []byte("payload")},
		&flow.Ack{To: id, ToPart: entity.CellPart, From: id + 1, FromPart: entity.ClientPart, Incarnation: 2, Life: 3, Number: 1 << 40, Settled: 1 << 39, Gone: true, Stream: 1},
		&flow.Inquiry{Of: id, OfPart: entity.CellPart, By: id + 1, ByPart: entity.BasePart, Reply: addr4, Stamp: 1 << 50},
		&flow.Remainder{To: id, ToPart: entity.BasePart, From: id + 1, FromPart: entity.CellPart, Stamp: 1 << 50, Incarnation: 4, Low: 5, Through: true, Caused: 6, Uploaded: 7},

		&wire.Located{ID: id, Space: 3, Gone: true, App: addr4},
		&wire.SpaceCreated{Request: 1 << 40, Space: 1<<24 + 1, Reason: "full", Full: true},
		&wire.AppLeft{App: addr4},
		&migrate.Current{ID: id, Order: order, Title: 9, Handled: 9},
		&wire.ClientPacket{ID: id, Order: order, Session: 4, Packet: []byte("positions")},
		&migrate.Offer{ID: id, Order: order, Title: 9, Saves: 2, Handled: 3, Space: 4, Position: here, Parts: []byte("parts")},
		&migrate.Lost{ID: id, Order: order, Title: 9, Code: placement.Full, Reason: "the script panicked",
			Fault: true, Culprit: flow.Culprit{From: id, FromPart: entity.CellPart, Mark: 7}},
		&wire.MakeProxy{Request: 1 << 60, Account: "ann", Plays: wire.Plays{Type: "Avatar", Row: 7, Data: []byte("vip")}, Wait: true},
		&wire.Relogin{Request: 1 << 60, Account: "ann", Holder: id, Plays: wire.Plays{Type: "Avatar", Row: 7, Data: []byte("vip")}}, &wire.Outdone{Account: "ann", ID: id, Origin: 3, Turn: 4},

		&wire.CallStore{Request: 1, Number: 2, Start: 3, World: 7, Op: wire.StoreWrite, Type: "Avatar", Row: 4, Identifier: "ann", Entity: id, FromApp: 5, Version: 6, Release: true, AutoLoad: true, Data: []byte("record")},
		&wire.EndWorld{Reason: "an update"},
		&wire.WorldEnding{Stop: status.Stop{Step: "saved", Done: true, Reason: "an update", Types: []status.Saved{{Type: "Avatar", Written: 5, Stale: 1, Failed: 2, Unkept: 3}}, Unsettled: 4, Left: []string{"Avatar 9"}, Spaces: 2, SpacesLost: 1, Settling: time.Second, Writing: time.Minute, Took: time.Hour}},
		&wire.Stop{Number: 1 << 33, Step: wire.StopPaused, Reason: "an update"},
		&wire.StopState{Number: 1 << 33, Pending: 300, Activity: 1 << 40, Left: []string{"Avatar 9", "Guard 7"}, Saved: []status.Saved{{Type: "Avatar", Written: 300, Stale: 1, Failed: 2, Unkept: 3}}},
		&wire.KeepSpace{Number: 1 << 33, KeptSpace: wire.KeptSpace{Space: 1<<24 + 1, Info: []byte("info"), Data: []space.DataEntry{entry, entry}}},
		&wire.BringSpace{Request: 7, All: true, KeptSpace: wire.KeptSpace{Space: 1<<24 + 1, Info: []byte("info"), Data: []space.DataEntry{entry, entry}}},
		&wire.SpaceBrought{Request: 7, Reason: "there are too many spaces"},
		&wire.BringBack{Request: 7, Type: "Guild", Row: 300}, &wire.BroughtBack{Request: 7, Code: stored.Held, Reason: "it lives"},
		&wire.SpaceKept{Number: 1 << 33, Space: 1<<24 + 1, Reason: "the store is full"},
		&wire.KeepOnly{Number: 1 << 33, Spaces: []entity.SpaceID{1, 1<<24 + 1}},
		&wire.OnlyKept{Number: 1 << 33, Reason: "the store is busy"},
		&wire.StoreAnswer{Request: 1, Code: stored.Held, Reason: "held", Holder: id, Start: 2, World: 8, Row: 3, Version: 4, Data: []byte("record")},
		&wire.CreateProxy{Request: 2, Account: "bob", Refusals: 300, Back: true, Plays: wire.Plays{Type: "Avatar", Row: 8, Data: []byte("new")}},
		&wire.ProxyGone{Account: "bob", ID: id},
		&wire.Proxies{Entries: []wire.Proxy{{Account: "ann", ID: 3, Life: 1, Origin: 2, Turn: 5}, {Account: "bob", ID: id, Life: 1 << 31, Origin: id, Turn: 1 << 31}}},
		&wire.ProxyMade{Request: 3, Code: 4, Refusals: 301, ID: id, Doors: []protocol.Door{{Network: "udp", Address: addr4, Name: "a.example"}, {Network: "websocket", Address: addr6, Name: "b.example"}}, Fallback: []protocol.Door{{Network: "tcp", Address: addr6, Name: "c.example"}}, Token: [16]byte{7, 15: 8}},
		&wire.Logins{Refused: true, Reason: "a CellApp has a load of 0.93"},
		&wire.Status{World: world},
	}
}

func counters() status.Counters {
	return status.Counters{ClientCallsSent: 1, ClientCallsHandled: 2, FlowSent: 3, FlowHandled: 4, BundlesSent: 5, BytesDown: 6, BytesUp: 7,
		Migrations: 8, Refused: 9, GhostsDiffer: 10, Errors: 11, PacketsUnsent: 12, FlowLost: 13, Repeats: 14, StaleGhosts: 15, Unproved: 16, Corrected: 17, Overruled: 18, LateAnswers: 19, EarlyAnswers: 20, OversizeCalls: 21, Interrupted: 22, Resumed: 23, TurnedAway: 24, PassedOver: 45,
		BackupsSent: 25, BackupsRefused: 26, BackupsPutOff: 27, Moved: 31, CopiesLeft: 30, Inherited: 28, Unanswered: 29, Restarted: 7, Unsaid: 9, Doubted: 32, Unrecorded: 33}
}

// endsOpen says that a message's last field is all that is left of the body, so that further bytes
// belong to it.
func endsOpen(m wire.Received) bool {
	switch m.(type) {
	case *flow.Message, *migrate.BaseCopy, *migrate.Onload, *migrate.Create, *migrate.Offer, *wire.ClientPacket, *wire.Onward:
		return true
	}
	return false
}

func fresh(m wire.Received) wire.Received {
	return reflect.New(reflect.TypeOf(m).Elem()).Interface().(wire.Received)
}

var places = cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })

func TestRoundTrip(t *testing.T) {
	seen := map[wire.ID]bool{}
	for _, want := range samples() {
		t.Run(fmt.Sprintf("%T", want), func(t *testing.T) {
			if v := reflect.ValueOf(want).Elem(); v.NumField() > 0 { // the sort alone says it
				notZero(t, v, "")
			}
			encoded := wire.Encode([]byte("before"), want)
			if !bytes.HasPrefix(encoded, []byte("before")) {
				t.Fatal("Encode does not append")
			}
			id, body, err := wire.Split(encoded[len("before"):])
			if err != nil {
				t.Fatal(err)
			}
			if id != wire.IDOf(want) || seen[id] {
				t.Errorf("id %d; used before: %v", id, seen[id])
			}
			seen[id] = true
			got := fresh(want)
			for range 2 { // the second time into a struct that was used
				if err := got.Parse(body); err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(want, got, places); d != "" {
					t.Fatalf("(-sent +received):\n%s", d)
				}
			}
			empty := fresh(want).Append(nil)
			blank := fresh(want)
			if err := blank.Parse(empty); err == nil { // over what the sample left in it
				if err := got.Parse(empty); err != nil || !bytes.Equal(got.Append(nil), empty) {
					t.Errorf("parsed over another message: %v, %+v", err, got)
				}
				if d := cmp.Diff(blank, got, places, cmpopts.EquateEmpty()); d != "" {
					t.Errorf("parsed over another message (-fresh +used):\n%s", d)
				}
			}
			if err := fresh(want).Parse(append(bytes.Clone(body), 0)); (err == nil) != endsOpen(want) {
				t.Errorf("with a byte left over: %v", err)
			}
		})
	}
}

// notZero fails for a field that a sample leaves at zero: its encoding would not be tested.
func notZero(t *testing.T, v reflect.Value, path string) {
	t.Helper()
	switch {
	case v.IsZero():
		t.Errorf("the sample's %s is zero", path)
	case v.Kind() == reflect.Struct && v.Type().PkgPath() != "net/netip":
		for i := range v.NumField() {
			if v.Type().Field(i).Name == "Name" && unnamed(path) {
				continue
			}
			notZero(t, v.Field(i), path+"."+v.Type().Field(i).Name)
		}
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		for i := range v.Len() {
			notZero(t, v.Index(i), fmt.Sprintf("%s[%d]", path, i))
		}
	}
}

// unnamed says that a sample is of a space's data, which has no names; see TestNames.
func unnamed(path string) bool {
	return path == "" || strings.HasSuffix(path, ".Entry") || strings.Contains(path, ".Data[")
}

// What the cluster shares has names, and the data of a space has none, whatever was parsed before.
func TestNames(t *testing.T) {
	entry := space.DataEntry{Number: 9, Key: spacekey.Shared, Name: "event", Value: []byte("snow"), By: 3, Said: 4}
	ours := wire.SpaceData{Entry: entry}
	var got wire.SpaceData
	if err := got.Parse(ours.Append(nil)); err != nil || got.Entry.Name != "event" {
		t.Errorf("shared: %+v, %v", got, err)
	}
	if err := got.Parse((&wire.SpaceData{Space: 3, Entry: entry}).Append(nil)); err != nil || got.Entry.Name != "" {
		t.Errorf("of a space: %+v, %v", got, err)
	}
	set := wire.SetSpaceData{Key: spacekey.Service, Name: "Chat/7", Value: []byte{1}, Said: 3}
	var gotSet wire.SetSpaceData
	if err := gotSet.Parse(set.Append(nil)); err != nil || gotSet.Name != "Chat/7" {
		t.Errorf("shared: %+v, %v", gotSet, err)
	}
	for what, m := range map[string]wire.Message{
		"no name": &wire.SetSpaceData{Key: spacekey.Shared}, "an unknown key": &wire.SetSpaceData{Key: 99, Name: "x"},
		"a long name": &wire.SetSpaceData{Key: spacekey.Shared, Name: strings.Repeat("x", shared.MaxKey+1)},
	} {
		if err := gotSet.Parse(m.Append(nil)); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := new(wire.SharedData).Parse((&wire.SharedData{Last: 1, Data: []space.DataEntry{{Number: 1}}}).Append(nil)); !errors.Is(err, wire.ErrMalformed) {
		t.Errorf("an entry without a name: %v", err)
	}
}

// Every prefix of a message is an error or a message; nothing panics.
func TestTruncated(t *testing.T) {
	for _, m := range samples() {
		body := m.Append(nil)
		for n := range body {
			got := fresh(m)
			if j, ok := got.(*wire.Join); ok && n == len(body)-4 {
				if err := j.Parse(body[:n]); err != nil || j.Speaks != (wire.Versions{}) {
					t.Errorf("a Join from before there were versions: %+v, %v", j, err)
				}
				continue
			}
			if err := got.Parse(body[:n]); err == nil && !endsOpen(m) {
				t.Errorf("%T: %d of %d bytes parse as %+v", m, n, len(body), got)
			}
		}
	}
	if _, _, err := wire.Split(nil); err == nil {
		t.Error("an empty message splits")
	}
}

// The lists of Proxies are bounded before they are made.
func TestProxiesBounds(t *testing.T) {
	var m wire.Proxies
	for range wire.MaxProxies {
		m.Entries = append(m.Entries, wire.Proxy{Account: strings.Repeat("x", wire.MaxAccount), ID: id})
	}
	var got wire.Proxies
	if err := got.Parse(m.Append(nil)); err != nil || len(got.Entries) != wire.MaxProxies {
		t.Errorf("%d entries: %v", len(got.Entries), err)
	}
	m.Entries = append(m.Entries, wire.Proxy{Account: "one more", ID: id})
	if err := new(wire.Proxies).Parse(m.Append(nil)); !errors.Is(err, codec.ErrLength) || !errors.Is(err, wire.ErrMalformed) {
		t.Errorf("an entry too many: %v", err)
	}
	long := wire.Proxies{Entries: []wire.Proxy{{Account: strings.Repeat("x", wire.MaxAccount+1), ID: id}}}
	if err := new(wire.Proxies).Parse(long.Append(nil)); !errors.Is(err, codec.ErrLength) {
		t.Errorf("a name too long: %v", err)
	}
	if err := new(wire.Proxies).Parse([]byte{200, 1, 0, 0}); !errors.Is(err, codec.ErrShort) {
		t.Errorf("200 entries in two bytes: %v", err)
	}
	if err := new(wire.Proxies).Parse([]byte{0}); err != nil {
		t.Errorf("none: %v", err)
	}
}

// Whatever parses is encoded as the same bytes: there is one encoding of a message, and nothing of
// it is lost.
func FuzzParse(f *testing.F) {
	types := map[wire.ID]wire.Received{}
	for _, m := range samples() {
		types[wire.IDOf(m)] = m
		f.Add(uint8(wire.IDOf(m)), m.Append(nil))
		f.Add(uint8(wire.IDOf(m)), []byte{})
	}
	f.Fuzz(func(t *testing.T, id uint8, body []byte) {
		kind, ok := types[wire.ID(id)]
		if !ok {
			return
		}
		m := fresh(kind)
		if m.Parse(body) != nil {
			return
		}
		switch m := m.(type) {
		case *wire.Status, *wire.WorldEnding:
			return // JSON has many encodings
		case *wire.Join:
			if !m.Speaks.Has(wire.Version) && m.Speaks != (wire.Versions{}) {
				return // what another version adds is left out
			}
		case *wire.LeaseAsk:
			if !m.Speaks.Has(wire.Version) {
				return
			}
		}
		if again := m.Append(nil); !bytes.Equal(again, body) {
			t.Errorf("%T: parsed from %x, encoded as %x", m, body, again)
		}
	})
}

// Only what follows a real is passed on, and nothing is wrapped twice.
func TestOnwardCarries(t *testing.T) {
	ack := wire.Encode(nil, &flow.Ack{To: id, ToPart: entity.CellPart, From: id, FromPart: entity.BasePart, Incarnation: 1})
	for name, tt := range map[string]struct {
		msg  []byte
		well bool
	}{
		"an ack":              {ack, true},
		"nothing":             {nil, false},
		"a ghost's end":       {wire.Encode(nil, &ghost.Delete{Head: head}), false},
		"what is passed on":   {wire.Encode(nil, &wire.Onward{Past: order, Message: ack}), false},
		"an id of no message": {[]byte{255}, false},
	} {
		m := wire.Onward{Past: order, Message: tt.msg}
		if err := new(wire.Onward).Parse(m.Append(nil)); (err == nil) != tt.well || err != nil && !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRoleNames(t *testing.T) {
	names := ""
	for r := wire.CellAppMgr; r <= wire.Observer+1; r++ {
		names += r.String() + " "
	}
	if want := "CellAppMgr CellApp BaseAppMgr BaseApp LoginApp DBApp observer role(8) "; names != want {
		t.Errorf("roles are %q, want %q", names, want)
	}
}

func Example() {
	sent := wire.Encode(nil, &wire.CellCreated{Space: 1, Cell: bsp.CellID{Term: 1, N: 4}})

	id, body, err := wire.Split(sent)
	if err != nil {
		fmt.Println(err)
		return
	}
	switch id {
	case wire.CellCreatedID:
		var got wire.CellCreated
		if err := got.Parse(body); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("space", got.Space, "has cell", got.Cell)
	}
	// Output: space 1 has cell 1.4
}
