package status

import (
	"net/netip"
	"strings"

	"github.com/cellscape/cellscape/bsp"
)

// MaxSpaces is how many spaces a World describes one by one: more rooms than a person looks at.
// With a cell each they fill a quarter of what an observer can be sent at a time.
const MaxSpaces = 1024

// World is the state of a world as its CellAppMgr sees it. Web pages read it as JSON.
type World struct {
	// GameTime is that of a space that never ran slower, in seconds.
	GameTime float64 `json:"game_time"`
	Spaces   []Space `json:"spaces"`
	Apps     []App   `json:"apps"`

	// SpaceCount is how many spaces there are; Spaces describes the first MaxSpaces.
	SpaceCount int `json:"space_count"`
	Cells      int `json:"cells"`       // now
	Retiring   int `json:"retiring"`    // of the cells
	CellsAdded int `json:"cells_added"` // since the start
	// CellsRemoved counts cells that have retired since the start, without those of dead CellApps.
	CellsRemoved int `json:"cells_removed"`
	// Removing counts cells that are out of their spaces but that their CellApps have not dropped
	// yet.
	Removing   int `json:"removing"`
	LinesMoved int `json:"lines_moved"` // since the start
	Reals      int `json:"reals"`
	Ghosts     int `json:"ghosts"`
	Clients    int `json:"clients"`
	// Unprotected counts the bases of which no other BaseApp holds a copy now: the death of theirs
	// would end them. Of a sound cluster with two BaseApps these are the bases of the last moment.
	Unprotected int `json:"unprotected,omitempty"`
	// RulesPending counts the BaseApps whose copies are not yet where the BaseApps of now would have them
	// (package entity/baseapp): others have come or gone since, or are about to leave, or there are no
	// backups. The death of another than the first one may then end bases.
	RulesPending int `json:"rules_pending,omitempty"`
	// Deaths counts the processes that were declared dead. Once another CellAppMgr leads it also counts
	// the BaseApps that had retired before, since the apps tell it of both in one way.
	Deaths int `json:"deaths"`
	// LoginsRefused means that the world is full; see cellappmgr.LoginConfig.
	LoginsRefused bool `json:"logins_refused"`

	// Ticks counts the ticks of all apps, and Late those that ended after the next was due.
	Ticks uint64 `json:"ticks"`
	Late  uint64 `json:"late_ticks"`
	// TickTimes is the histogram of how long they took.
	TickTimes TickTimes `json:"tick_times"`
	// CPU is the processor time in seconds of all apps' threads.
	CPU float64 `json:"cpu_s"`
	// Pending counts what still has to be told to clients and between apps.
	Pending uint64 `json:"pending"`
	// ReportsSinceFreeze is how many times every app has reported since the last Freeze. Pending is
	// meaningful once it is 2 or more.
	ReportsSinceFreeze int      `json:"reports_since_freeze"`
	Counters           Counters `json:"counters"`
	// Told is what all CellApps tell their clients.
	Told Told `json:"told"`
	// Unsent counts messages that were not sent, of all apps.
	Unsent []Unsent `json:"unsent,omitempty"`
	// Received is how many messages of each type all apps have handled.
	Received map[string]uint64 `json:"received,omitempty"`
}

// Space is one space of a World.
type Space struct {
	ID      uint32      `json:"id"`
	Version bsp.Version `json:"version"`
	// GameTime is in seconds. Rate is how fast it runs: 1 is normal, and it is less while a crowd
	// is too dense for its CellApp.
	GameTime float64 `json:"game_time"`
	Rate     float64 `json:"rate"`
	Cells    []Cell  `json:"cells"`
	Lines    []Line  `json:"lines"`
}

// Ready reports whether the space has a running cell.
func (s *Space) Ready() bool {
	for i := range s.Cells {
		if s.Cells[i].Created {
			return true
		}
	}
	return false
}

// Cell is one cell: its rectangle, cut to the bounds of its space, and what its CellApp reported.
type Cell struct {
	Cell    string     `json:"cell"`
	App     uint32     `json:"app"`  // number of the CellApp
	Rect    [4]float64 `json:"rect"` // min x, min z, max x, max z, in metres
	Load    float64    `json:"load"` // fraction of a core
	Reals   uint32     `json:"reals"`
	Ghosts  uint32     `json:"ghosts"`
	Created bool       `json:"created"`
	// Loading means that the cell has not loaded the geometry of its area, so that nobody can
	// enter.
	Loading bool `json:"loading,omitempty"`
	// Retiring means that the cell's area is being taken away; Overloaded means that its CellApp is
	// above the bound up to which cells grow.
	Retiring   bool `json:"retiring,omitempty"`
	Overloaded bool `json:"overloaded,omitempty"`
	// Crowd is where its reals are, in the form of Rect. Loaded is the part of the space's geometry
	// that it has loaded. Empty ones are left out.
	Crowd  *[4]float64 `json:"crowd,omitempty"`
	Loaded *[4]float64 `json:"loaded,omitempty"`
}

// Line is one line of the partition.
type Line struct {
	Vertical bool    `json:"vertical"` // of constant x
	At       float64 `json:"at"`
	From     float64 `json:"from"`
	To       float64 `json:"to"`
	// Moved is how many metres the last balance moved it.
	Moved float64 `json:"moved"`
	// Average is the mean load of the cells on both sides, as a fraction of a core.
	Average float64 `json:"average"`
	// Aggression is the share of a wanted step that the line takes now. Direction is -1 or 1 for
	// where it last moved, 0 if it has not moved. See balance.LineState.
	Aggression float64 `json:"aggression"`
	Direction  int     `json:"direction"`
	// Depth is how many lines are above it.
	Depth int `json:"depth"`
}

// Roles of App.
const (
	RoleCellAppMgr = "CellAppMgr"
	RoleCellApp    = "CellApp"
	RoleBaseAppMgr = "BaseAppMgr"
	RoleBaseApp    = "BaseApp"
	RoleDBApp      = "DBApp"
	RoleLoginApp   = "LoginApp"
)

// App is one process.
type App struct {
	Role    string  `json:"role"`
	Number  uint32  `json:"number"`
	Address string  `json:"address"` // place#salt
	Load    float64 `json:"load"`    // fraction of a core, as balance sees it
	CPU     float64 `json:"cpu_s"`
	// PID is the OS process that the app runs in, 0 if unknown. ProcessCPU is the user and system
	// time that the operating system counts for that process; all apps of one process report the
	// same. CPU above is only that of the app's own thread.
	PID        uint32  `json:"pid,omitempty"`
	ProcessCPU float64 `json:"process_cpu_s,omitempty"`
	// SavingStep is how many steps a CellApp has taken to save work; see overload.Throttle.
	SavingStep int `json:"saving_step"`
	// Saving is what the steps amount to; nil while SavingStep is 0.
	Saving *Saving `json:"saving,omitempty"`
	// Told is what a CellApp tells its clients; nil for others.
	Told *Told `json:"told,omitempty"`
	// Types are the entity types whose cell parts cost a CellApp most, the dearest first.
	Types []TypeLoad `json:"types,omitempty"`
	// Traffic is the property traffic of a CellApp or BaseApp since its start: the properties, and the
	// ways they go, that take most bytes, the largest first. An observer of a world so large that not all
	// can be told is told neither Traffic, nor Types, nor any Counts.
	Traffic []PropertyTraffic `json:"traffic,omitempty"`
	// Backlog is the app that is furthest behind in receiving from this one, and Full the used part
	// of the queue to it. Both are empty if all keep up.
	Backlog string  `json:"backlog,omitempty"`
	Full    float64 `json:"full,omitempty"`
	// Unsent counts the messages that the app could not send.
	Unsent []Unsent `json:"unsent,omitempty"`
	// Carriers are the networks over which the app can be reached: first the inner one, between
	// apps, and then the doors for players.
	Carriers []Carrier `json:"carriers,omitempty"`
	// Store says how the store of the DBApp does: "ok", or that it is failing, for how long and why, or
	// that another world lives in it, or what the DBApp waits for, and what is to be done. Of the
	// CellAppMgr it says why the store gives no numbers for new apps and spaces, while it gives none: new
	// processes then wait. It is empty for others.
	Store string `json:"store,omitempty"`
	// Counts are what else the app counts. Those of a process that is gone are gone with it.
	Counts Counts `json:"counts,omitempty"`
}

// PropertyTraffic is what the changes of one property have taken on one way. What goes to several at
// once counts once for each.
type PropertyTraffic struct {
	Type     string `json:"type"`
	Property string `json:"property,omitempty"` // empty for positions and directions
	Way      string `json:"way"`                // a property.Traffic: "to ghosts", "to other clients", "moves"
	Changes  uint64 `json:"changes"`
	Bytes    uint64 `json:"bytes"`
}

// TypeLoad is what the cell parts of one entity type cost a CellApp.
type TypeLoad struct {
	Type  string  `json:"type"`
	Reals uint64  `json:"reals"`
	Load  float64 `json:"load"` // fraction of a core
}

// Unsent counts the messages of one type that were not sent for one reason.
type Unsent struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Count   uint64 `json:"count"`
	// Fault means that nothing makes up for them: they are lost.
	Fault bool `json:"fault,omitempty"`
}

// UnsentFaults is how many messages were not sent and are lost: 0 in a sound cluster.
func (w *World) UnsentFaults() (n uint64) {
	for _, u := range w.Unsent {
		if u.Fault {
			n += u.Count
		}
	}
	return n
}

// AddrPort is where the process listens.
func (a *App) AddrPort() netip.AddrPort {
	place, _, _ := strings.Cut(a.Address, "#")
	at, _ := netip.ParseAddrPort(place)
	return at
}

// App returns the first process of a role.
func (w *World) App(role string) (App, bool) {
	for _, a := range w.Apps {
		if a.Role == role {
			return a, true
		}
	}
	return App{}, false
}

// AppCount is the number of processes of a role.
func (w *World) AppCount(role string) int {
	n := 0
	for i := range w.Apps {
		if w.Apps[i].Role == role {
			n++
		}
	}
	return n
}
