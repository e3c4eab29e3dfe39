package client

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/faults"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/download"
	"github.com/cellscape/cellscape/property"
)

const (
	// DefaultTick is the default of Config.Tick, the same as a cell's.
	DefaultTick = 100 * time.Millisecond

	// LoginTimeout bounds the time from dialling the LoginApp to its answer. The LoginApp itself
	// waits for an account service and for a BaseApp, so it may take a while. It begins again each time
	// the LoginApp tells the client its place in the queue of a full world.
	LoginTimeout = 30 * time.Second

	// AttachTimeout bounds the time from dialling the BaseApp to Attached. The proxy already
	// exists, so this only waits for the network.
	AttachTimeout = 10 * time.Second

	// heirTimeout bounds the same if the client was told where its session begins when that BaseApp is
	// gone: with the time until a silent process is taken for dead.
	heirTimeout = 20 * time.Second

	// LogoutTimeout is how long Logout waits for the server to close the channel.
	LogoutTimeout = 5 * time.Second

	// MaxEntities bounds the replicas of one client, since an audit cannot list more.
	MaxEntities = protocol.MaxAudited

	// MaxSpaceData bounds the entries of space data that a client keeps: as many as a space can
	// have.
	MaxSpaceData = 4096

	// maxAhead bounds how many bundles a Positions packet may be ahead of the received bundles. At
	// ten bundles a second that is a stall of the reliable stream by three seconds. A packet
	// further ahead was sent before a Reset, after which the numbers began again.
	maxAhead = 32
)

// Tickets is the part of a mercury.Guard that keeps tickets. It is called on the client's
// goroutine.
type Tickets interface {
	// Keep stores a ticket for the next dial of an address. ticket is valid only during the call.
	// It may be any bytes, and Keep must ignore what is not a ticket.
	Keep(now time.Duration, to mercury.Address, ticket []byte)
}

// Config configures a client.
type Config struct {
	// Transport is the client's own transport. Required.
	Transport mercury.Transport
	// Schema has the entity definitions. What a client can see and call must be the same as at the
	// server (property.Schema.ClientDigest). Required.
	Schema *property.Schema
	// LoginApp is where clients log in. Required.
	LoginApp netip.AddrPort
	// Networks are the networks over which the client may dial the BaseApp, the preferred one
	// first. Default: UDP.
	Networks []string
	// DialOver dials a door of a BaseApp, over one of Networks. Pages dial by its name. Default:
	// Transport.Dial, whatever the network.
	DialOver func(to protocol.Door) (mercury.ChannelID, error)
	// User and Password are for the LoginApp's Auth, each of at most protocol.MaxName bytes.
	User, Password string
	// Tickets keeps the ticket for dialling the BaseApp without a round trip. It is the
	// mercury.Guard of a Transport that has one. Default: tickets are not used.
	Tickets Tickets
	// PropertyStats counts the received changes of properties. Many clients of one goroutine may
	// share one. Default: one of the client's own.
	PropertyStats *property.Stats
	// Scratch is memory that many clients of one goroutine may share. Default: the client's own.
	Scratch *Scratch
	// Scripts are the game's Go types for what it sees. Default: none.
	Scripts *Scripts
	// Filter makes the filter of an entity that comes into view, by which Replica.Shown says where
	// to draw it; nil for none. Default: all are shown where they are.
	Filter func(r *Replica) Filter
	// MaxDownload is the longest content, in bytes, that the client takes from the server. It is
	// kept in memory while it comes. Default DefaultMaxDownload.
	MaxDownload int
	// EnableLater says that the game calls Client.EnableEntities when it is ready to be shown the world: when
	// it has loaded what it needs, for example by downloads. Default: it is ready at once.
	EnableLater bool
	// Events are told what happens.
	Events Events
	// Log gets a line when the session begins and ends. Default: nothing is logged.
	Log *slog.Logger
	// Tick is the time between two ticks, and so between two Moves. A shorter one makes the
	// player's movement smoother and costs bandwidth. Default 100 ms.
	Tick time.Duration
}

// Validate reports all faults of c at once.
func (c *Config) Validate() error {
	all := faults.In("client: ")
	fault := all.If
	fault(c.Transport == nil, "Config.Transport is nil: give the transport of this client")
	fault(c.Schema == nil, "Config.Schema is nil: load the server's definitions")
	fault(!c.LoginApp.IsValid() || c.LoginApp.Port() == 0, "Config.LoginApp is %v: give the address and port of a LoginApp", c.LoginApp)
	fault(len(c.User) > protocol.MaxName, "Config.User has %d bytes: at most %d are sent", len(c.User), protocol.MaxName)
	fault(len(c.Password) > protocol.MaxName, "Config.Password has %d bytes: at most %d are sent", len(c.Password), protocol.MaxName)
	if c.Scripts != nil {
		if err := c.Scripts.Err(); err != nil {
			all.Add(err)
		}
		fault(c.Schema != nil && c.Scripts.Schema() != c.Schema, "Config.Scripts are of another schema: make them with NewScripts of Config.Schema")
	}
	fault(c.MaxDownload < 0 || int64(c.MaxDownload) > download.MaxSize, "Config.MaxDownload is %d: give a number of bytes, or zero for %d", c.MaxDownload, DefaultMaxDownload)
	fault(c.Tick < 0, "Config.Tick is %v: give a time above zero, or zero for %v", c.Tick, DefaultTick)
	return all.Err()
}

// Events are the functions that a Client calls; any may be nil. They are called in the order of the
// server's messages.
type Events struct {
	// Waiting: the world is full, and this client waits for room. position is its place in the
	// queue of its LoginApp, 1 for the one that comes in next, and of is how many wait there. It is
	// called every few seconds. The client comes in by itself: LoggedIn follows, or Closed.
	// Client.Close and Client.Logout leave the queue.
	Waiting func(position, of int)
	// LoggedIn: the proxy has accepted the client. With Config.EnableLater nothing but downloads comes
	// until the game calls EnableEntities.
	LoggedIn func()
	// BasePlayer: the player's entity exists, with its base properties.
	BasePlayer func(own *Replica)
	// CellPlayer: the player's entity has a cell part (again) and is in a space. From here on
	// SetPosition works.
	CellPlayer func(own *Replica)
	// Forced: the server has put the player's entity at a place, and perhaps has taken the control of
	// it from this client or given it back (Client.Controls). While the server moves the entity, it
	// is called a few times a second. It is not called for the place of a CellPlayer.
	Forced func(own *Replica)
	// Controlled: this client has been given the control of an entity that is not its own, or has lost
	// it, or the server has put such an entity at a place (Replica.Controls, Replica.SetPosition).
	Controlled func(r *Replica)
	// RideChanged: what r rides on has changed, or an entity in the area of interest has another seat there
	// (Replica.Vehicle, Replica.Seat). r may be the player's own: then Forced follows, or the event that has
	// ended its ride, which is CellPlayer, CellGone, Reset, EntitiesReset or LeftSpace.
	RideChanged func(r *Replica)
	// CellGone: the player's cell part was destroyed. SetPosition no longer works, and what the
	// player saw is gone as after a Reset. CellPlayer follows if the cell part is made again.
	CellGone func(own *Replica)
	// Reset: the cell part is another one than before: it was lost with its process, or was made
	// when the player was here already, as at most logins. All replicas except the player's own are
	// gone, without a Left for each, and so is the space data. CellPlayer follows when the cell
	// part is there.
	Reset func()

	// EntitiesReset: the player gets another entity. All replicas are gone, the player's own too,
	// without a Left for each, and so is the space data. BasePlayer follows, with
	// Config.EnableLater once the game has called EnableEntities again.
	EntitiesReset func()

	// LeftSpace: the player's entity was teleported. All other replicas are gone, without a Left for
	// each, and so is the space data. CellPlayer follows with the new place, which may be in the same
	// space, and Arrived once the client has been told of all who are near there.
	LeftSpace func(own *Replica)
	Arrived   func(own *Replica)
	// Transited: the player's entity goes through a transition area, and its view goes along. Its own
	// place and those of its companions have been mapped by the offset, in metres: map what is yours, such
	// as the camera. The other replicas are where they were; those that are not seen from the new place
	// leave one by one. The space data is gone. CellPlayer and Arrived follow as after LeftSpace.
	Transited func(own *Replica, offset property.Vector3, companions []*Replica)

	// Entered: an entity came into the area of interest.
	Entered func(r *Replica)
	// Left: an entity left the area of interest; r is no longer updated.
	Left func(r *Replica)
	// Moved: an entity in the area of interest has moved.
	Moved func(r *Replica)
	// PropertyChanged: a property of r, or a part of one, has changed; r already has the new value.
	// r may be the player's own. It is called once for each part, but not for the values with which
	// an entity is made. c is valid only during the call.
	PropertyChanged func(r *Replica, c *property.Change)
	// Called: the server called client method m of r, which may be the player's own.
	Called func(r *Replica, m *property.Method, args []property.Value)
	// SpaceData: an entry of the data of the player's space was set or removed. The function may
	// keep the value.
	SpaceData func(change entity.SpaceDatum)

	// Downloaded: a content from the player's base is complete, or err says why it is not. The
	// function may keep content. Without this function the client refuses contents.
	Downloaded func(id uint32, desc string, content []byte, err error)
	// DownloadProgress: received of size bytes of a content are here. It is called a few times a
	// second.
	DownloadProgress func(id uint32, desc string, received, size int)

	// Interrupted: the connection is lost, and the client dials again by itself. What it shows stays as it
	// is. Resumed follows, or Closed; see Client.Interrupted.
	Interrupted func(reason error)
	// Resumed: the session goes on as if the connection had not been lost. What came meanwhile follows.
	// Only downloads have ended. It comes without an Interrupted before it when the server has sent
	// the session to another BaseApp, as when one leaves: that takes a moment.
	Resumed func()

	// Audited: RequestAudit was answered. Each line of diff is one difference between what the
	// client holds and what it should hold.
	Audited func(diff []string)
	// Closed: the session is over; this is the last event. err wraps a *protocol.Refused, which a
	// client can show, or protocol.ErrMalformed, or one of mercury's reasons.
	Closed func(err error)
}
