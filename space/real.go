package space

import (
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"time"

	"github.com/cellscape/cellscape/aoi"
	"github.com/cellscape/cellscape/aoi/witness"
	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

// Real is the authoritative cell part of an entity. Its script embeds it, and calls its methods on
// the goroutine of the CellApp. After the real has been offloaded or destroyed they do nothing.
type Real struct {
	// First what each move of a client and each tick reads, side by side: with thousands of reals, each
	// line of memory is one that the processor has to fetch.
	e            *presence.Entity
	cell         *Cell
	kind         *script.Type // nil for a type without a script
	script       reflect.Value
	witness      *witness.Witness
	flows        []peer        // by other end
	baseAt       int           // where the one with the base stands, unless they have changed
	quietUntil   time.Duration // until when those with others have nothing to do; see settleFlows
	session      flow.Session  // of the client; zero without one
	clientSeq    uint32        // the last move heard of the client
	ghostedStamp uint32        // the MoveStamp that the haunts know
	gone         departure
	ending       bool     // its base, which was ending, had it destroyed
	audits       bool     // the client has asked what it should hold
	steering     steering // who moves it
	haunts       ghost.Haunts
	changes      []ghost.Change
	// ghostedControl is the Control that the haunts know.
	ghostedControl presence.Control
	// ghostedRide is the Stamp of the Ride that the haunts know.
	ghostedRide uint32
	meter       load.Meter
	leastLoad   int64  // artificial load
	madeTick    uint64 // the cell's tick when it was made here; 0 if it came from elsewhere
	direct      []byte // messages for the own client's next bundle
	dataTold    uint64 // the last space data number sent to the client
	dayTold     dayTold
	dataHeard   uint64        // the last of which the script was told
	sharedHeard uint64        // and of what the cluster shares
	slowUntil   time.Duration // its client takes nothing until then
	// arriving is when the client of a real that was teleported is told at the latest that it has been
	// told of all near by; 0 if it was. See newView.
	arriving    time.Duration
	backupAt    time.Duration
	charges     charges       // whom its client moves beside it
	tail        tail          // what it keeps for others, as of the last tick
	ahead       time.Duration // its game time on the former cell; see Now
	timers      script.Timers
	controllers controllers
	requests    script.Requests
	owed        script.Owed

	ghostSequence uint32
	updated       uint32 // ghost sequence of the last Update to all haunts
	payloads      []byte // backs the payloads of changes

	nested  int // own calls within one another
	commits []commit

	trigger aoi.Trigger
	bundle  []byte // of this tick, with the packets
	packets [][]byte

	teleport *teleport // that has not ended; nil if there is none
	toldEnd  bool      // OnSpaceEnd was called

	witnessed bool          // by clients, as the script was told
	unwatched time.Duration // since when nobody sees it, as far as checks have found; 0 if somebody does

	vehicleMissing time.Duration // since when its vehicle is not on the cell; 0 if it is
	carriedTick    uint64        // the cell's tick in which it was carried last

	outsideSince time.Duration // when the real went beyond its cell; 0 if inside
	heavyUntil   time.Duration // until when it is not handed over, since it was too large; see largePause
	listed       bool          // on Cell.border
	decided      bsp.Version   // the geometry by which it was handed over to here
	saves        uint64
	call         entity.Call // being handled
	uploads      uploads
	cause        uint64        // number of the base's message being handled; 0 for none
	handling     flow.Culprit  // the message being handled
	passing      bool          // it is passed over; see passing.go
	saving       uint64        // number of the backup that the base has to confirm; 0 for none
	savedAt      time.Duration // when the last backup was sent
	// inBackup is what that has which the base has to confirm, backed what the newest confirmed one
	// has, and spent the highest number of a flow that was forgotten.
	inBackup, backed contents
	spent            uint64
	// What came from other entities since that backup.
	unsavedCalls, unsavedBytes int
	patientUntil               time.Duration // see CallPatience
	seekUntil                  time.Duration // see seek
	untold                     *untold       // from the copy that it is being restored from
	viewed                     restoredSight // from there, too

	title migrate.Title // shows the base that the real was given to this app
	// rival is an app that claims a newer incarnation, and rivalAt when the base was told of this
	// one because of that; see challenge.
	rival   mercury.Address
	rivalAt time.Duration

	taped     taped
	leavesFor entity.SpaceID   // where it is handed over to
	exposed   *property.Values // of its base, for recordings; nil for none

	reason     string // why it is lost
	broadcasts broadcasts
	unsaid     uint64 // of the witness's Dropped that is counted
	large      bool   // too large to be backed up, when it was last tried
	panicked   bool   // its script has, over the message culprit if that is not zero
	culprit    flow.Culprit
	pass       []flow.Culprit // messages to pass over
}

// departure says how a real leaves. The cell acts on it after the callback or walk that set it.
type departure uint8

// mute reports whether nobody hears any more what the real says.
func (d departure) mute() bool { return d != staying && d != parting }

const (
	staying departure = iota
	parting           // destroyed, and in OnDestroy
	destroyed
	lost // its script panicked, or the base refused it
	refused
	handedOver
)

// ID is the entity's id.
func (r *Real) ID() entity.ID { return r.e.ID }

// Order says which incarnation of the entity this is, and how often it has been handed over.
func (r *Real) Order() entity.Order { return r.e.Order }

// Def is the entity's definition.
func (r *Real) Def() *property.Definition { return r.e.Def }

// Space is the id of the space that the entity is in.
func (r *Real) Space() entity.SpaceID { return r.e.Space }

// Position is where the entity is, in metres.
func (r *Real) Position() property.Vector3 { return r.e.Position }

// Direction is yaw, pitch and roll, in radians.
func (r *Real) Direction() property.Vector3 { return r.e.Direction }

// SetPosition moves the entity at once. A player's client is told, and what it says of the place is
// ignored until it knows; see "Who moves a player" in the package documentation. Who is on a vehicle stays
// on it, at another seat, unless that is too far away for one, or the vehicle is not on the cell. Coordinates
// that are not finite or beyond property.MaxCoordinate are refused.
func (r *Real) SetPosition(p property.Vector3) error { return r.place(p, r.e.Direction) }

// SetDirection turns the entity. A player's client is told as by SetPosition, with the position too.
func (r *Real) SetDirection(d property.Vector3) error {
	r.takeSeat()
	return r.place(r.e.Position, d)
}

// place is the server's word on where the entity is.
func (r *Real) place(p, d property.Vector3) error {
	if err := r.put(p, d); err != nil {
		return err
	}
	if r.e.Ride.Vehicle != 0 {
		r.reseat()
	}
	if r.steering.stepping {
		r.lead()
	} else {
		r.force()
	}
	return nil
}

// put moves the entity, whoever wants it.
func (r *Real) put(p, d property.Vector3) error {
	if r.gone != staying {
		return entity.ErrGone
	}
	if !property.Finite(p) || !property.Finite(d) {
		return fmt.Errorf("space: position %v, direction %v is not finite or out of range", p, d)
	}
	if r.e.MoveTo(r.cell.tick, p, d) {
		r.cell.moved(r.e)
	}
	return nil
}

// Base is the mailbox of the entity's base part.
func (r *Real) Base() entity.Mailbox {
	return entity.Mailbox{ID: r.e.ID, Kind: entity.BaseMailbox, Def: r.e.Def, Via: realCaller{r}}
}

// OwnClient is the mailbox for calls of client methods at the entity's own client only.
func (r *Real) OwnClient() entity.Mailbox {
	return entity.Mailbox{ID: r.e.ID, Kind: entity.ClientMailbox, Def: r.e.Def, Via: clientCaller{r, true, false}}
}

// OtherClients is the mailbox for calls of client methods at all clients that see the entity,
// except its own.
func (r *Real) OtherClients() entity.Mailbox {
	return entity.Mailbox{ID: r.e.ID, Kind: entity.ClientMailbox, Def: r.e.Def, Via: clientCaller{r, false, true}}
}

// AllClients is the mailbox for calls of client methods at the entity's own client and all others
// that see it.
func (r *Real) AllClients() entity.Mailbox {
	return entity.Mailbox{ID: r.e.ID, Kind: entity.ClientMailbox, Def: r.e.Def, Via: clientCaller{r, true, true}}
}

// SetDetailFactor shrinks the distances within which the entity's client is sent detailed
// properties and broadcast calls of other entities: 1 as the definitions say, 0.5 half of that. Use
// it for load that the game sees coming: a crowd, a client on a bad line. It lasts until the
// session ends, across cells, and goes with backups. It does nothing without a client, or if the
// factor is not above 0 and at most 1.
func (r *Real) SetDetailFactor(factor float32) {
	if r.witness != nil {
		r.witness.SetDetailFactor(factor)
	}
}

// HasClient reports whether a player's client is attached.
func (r *Real) HasClient() bool { return r.session.Number != 0 }

// Call describes the call that the script is handling; see entity.Call. It is zero in timers and
// hooks, which nobody calls.
func (r *Real) Call() entity.Call { return r.call }

// Destroy ends the cell part after the callback that called it. A method that calls it has handled its
// call, and what it returns is the answer. Whoever calls the cell part later hears that the target has
// ended, by CallRefuser or by entity.ErrNoEntity. What it has called before is heard, also by those who
// see it: they are told before it leaves.
func (r *Real) Destroy() {
	if r.gone == staying {
		r.depart(destroyed, "")
	}
}

func (r *Real) depart(how departure, reason string) {
	r.gone, r.reason = how, reason
	r.cell.departing = append(r.cell.departing, r)
	r.cell.population.unsettled(r.cell)
}

// Spawn makes an entity without a base in the same space, which dies with its CellApp. init, if not
// nil, sets properties before the script sees them.
func (r *Real) Spawn(typeName string, position, direction property.Vector3, init func(*property.Values)) (entity.ID, error) {
	return r.cell.Spawn(typeName, position, direction, init)
}

// Chance is the cell's source of random numbers.
func (r *Real) Chance() *rand.Rand { return r.cell.chance }

// Log writes to the CellApp's log with the entity's name.
func (r *Real) Log() *slog.Logger {
	return r.cell.log.With("entity", r.e.ID.String(), "type", r.e.Def.Name)
}

// Find looks at another entity, or at this one, on the cell: a real, or a ghost. It is false for one that is
// not there, as who is farther away than ghosts reach.
func (r *Real) Find(id entity.ID) (View, bool) {
	rec := r.cell.population.find(id)
	return View{rec}, rec != nil && rec.cell == r.cell
}

// EntitiesInRange yields the other entities whose x and z are within radius metres of the entity's,
// in id order. It reaches as far as ghosts do.
func (r *Real) EntitiesInRange(radius float32) iter.Seq[View] {
	return func(yield func(View) bool) {
		p := r.e.Position
		for key, node := range r.cell.ranges.InRange(p.X, p.Z, radius) {
			rec := r.cell.population.find(entity.ID(key))
			if rec == nil || rec.e == r.e || rec.cell != r.cell || rec.node != node {
				continue
			}
			if !yield(View{rec}) {
				return
			}
		}
	}
}
