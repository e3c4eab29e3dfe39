package client

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/download"
	"github.com/cellscape/cellscape/property"
)

const (
	// DefaultTick is the default of Config.Tick, the rhythm of a cell.
	DefaultTick = 100 * time.Millisecond

	// LoginTimeout bounds the time from dialling the LoginApp to its answer: it
	// waits itself for an account service and for a BaseApp, so it may take a
	// while.
	LoginTimeout = 30 * time.Second

	// AttachTimeout bounds the time from dialling the BaseApp to Attached. The
	// proxy is there already; only the network is to be waited for.
	AttachTimeout = 10 * time.Second

	// LogoutTimeout is how long Logout waits for the server to close the channel.
	LogoutTimeout = 5 * time.Second

	// MaxEntities bounds the replicas of one client; an audit cannot list more.
	MaxEntities = protocol.MaxAudited

	// MaxSpaceData bounds the entries of space data that a client keeps; a space
	// has no more.
	MaxSpaceData = 4096

	// maxAhead bounds by how many bundles a Positions packet may be ahead of the
	// bundles that have come. At ten bundles a second that is three seconds of a
	// stalled reliable stream; a packet further ahead was sent before a Reset,
	// after which the numbers began again.
	maxAhead = 32
)

// Tickets is what a mercury.Guard does with tickets. It is called on the client's
// goroutine.
type Tickets interface {
	// Keep stores a ticket for the next dial of a place. ticket is valid during the call.
	// It may be anything: Keep must ignore what is not a ticket.
	Keep(now time.Duration, to mercury.Address, ticket []byte)
}

// Config says how a client is made.
type Config struct {
	// Transport is the client's own. Required.
	Transport mercury.Transport
	// Schema has the entity definitions; what a client can see or call must be
	// the same as at the server (property.Schema.ClientDigest). Required.
	Schema *property.Schema
	// LoginApp is where clients log in. Required.
	LoginApp netip.AddrPort
	// Networks are those over which the BaseApp may be dialled, the preferred one first.
	// Default: UDP.
	Networks []string
	// DialOver dials over one of Networks. Default: Transport.Dial, whatever the network.
	DialOver func(network string, to mercury.Address) (mercury.ChannelID, error)
	// User and Password are what the LoginApp's Auth is asked about; each has at
	// most protocol.MaxName bytes.
	User, Password string
	// Tickets takes the ticket with which the BaseApp is dialled without a round trip:
	// the mercury.Guard of a Transport that has one. Default: tickets are not used.
	Tickets Tickets
	// PropertyStats counts the changes of properties that come. Many clients of one
	// goroutine may share one. Default: one of the client's own.
	PropertyStats *property.Stats
	// Scripts are the Go types that the game wrote for what it sees. Default: none.
	Scripts *Scripts
	// MaxDownload is the longest content in bytes that is taken from the server, and kept in
	// memory while it comes. Default DefaultMaxDownload.
	MaxDownload int
	// Events are told what happens.
	Events Events
	// Log gets a line when the session begins and ends. Default: nothing is logged.
	Log *slog.Logger
	// Tick is the time between two ticks, hence between two Moves. A shorter one
	// makes the player's movement smoother and costs bandwidth. Default 100 ms.
	Tick time.Duration
}

// Validate reports all faults of c at once.
func (c *Config) Validate() error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf("client: "+format, args...))
		}
	}
	fault(c.Transport == nil, "Config.Transport is nil: give the transport of this client")
	fault(c.Schema == nil, "Config.Schema is nil: load the definitions that the server has")
	fault(!c.LoginApp.IsValid() || c.LoginApp.Port() == 0, "Config.LoginApp is %v: give the address and port of a LoginApp", c.LoginApp)
	fault(len(c.User) > protocol.MaxName, "Config.User has %d bytes: at most %d are sent", len(c.User), protocol.MaxName)
	fault(len(c.Password) > protocol.MaxName, "Config.Password has %d bytes: at most %d are sent", len(c.Password), protocol.MaxName)
	if c.Scripts != nil {
		if err := c.Scripts.Err(); err != nil {
			faults = append(faults, err)
		}
		fault(c.Schema != nil && c.Scripts.Schema() != c.Schema, "Config.Scripts are of another schema: make them with NewScripts of Config.Schema")
	}
	fault(c.MaxDownload < 0 || int64(c.MaxDownload) > download.MaxSize, "Config.MaxDownload is %d: give a number of bytes, or zero for %d", c.MaxDownload, DefaultMaxDownload)
	fault(c.Tick < 0, "Config.Tick is %v: give a time above zero, or zero for %v", c.Tick, DefaultTick)
	return errors.Join(faults...)
}

// Events are the functions that a Client calls; any may be nil. They are called
// in the order in which the server sent what they tell of.
type Events struct {
	// LoggedIn: the proxy took the client.
	LoggedIn func()
	// BasePlayer: the player's entity is there, with its base properties.
	BasePlayer func(own *Replica)
	// CellPlayer: the player's entity has (again) a cell part and is in a space.
	// From here on SetPosition works.
	CellPlayer func(own *Replica)
	// CellGone: the player's cell part was destroyed. SetPosition works no more, and
	// what it saw is gone as after a Reset; CellPlayer follows if it is made again.
	CellGone func(own *Replica)
	// Reset: the cell part was lost with its process. All replicas but the
	// player's own are gone, without a Left for each, and so is the space data;
	// CellPlayer follows when the cell part is back.
	Reset func()

	// Entered: an entity came into the area of interest.
	Entered func(r *Replica)
	// Left: an entity left the area of interest; r is not kept up any more.
	Left func(r *Replica)
	// Moved: an entity in the area of interest has another place.
	Moved func(r *Replica)
	// PropertyChanged: a property of r, perhaps the player's own, or a part of one, has
	// another value; r has it already. It is called once for each part, and not for
	// the values with which an entity is made. c is valid during the call.
	PropertyChanged func(r *Replica, c *property.Change)
	// Called: the server calls client method m of r, perhaps the player's own.
	Called func(r *Replica, m *property.Method, args []property.Value)
	// SpaceData: an entry of the data of the player's space was set. value is
	// the callee's to keep.
	SpaceData func(key uint16, value []byte)

	// Downloaded: a content that the player's base has sent is here, or err says why it is
	// not; content is the callee's to keep. Without this function contents are refused.
	Downloaded func(id uint32, desc string, content []byte, err error)
	// DownloadProgress: so much of a content is here. It comes some times a second.
	DownloadProgress func(id uint32, desc string, received, size int)

	// Audited: the answer to RequestAudit. Each line of diff says one thing that
	// differs between what the client holds and what it should hold.
	Audited func(diff []string)
	// Closed: the session is over; it is the last event. err has a
	// *protocol.Refused in its chain, which a client can show; or
	// protocol.ErrMalformed; or one of mercury's reasons.
	Closed func(err error)
}
