package secure

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// Defaults and bounds of Config.
const (
	// DefaultPassLife leaves a dialler time to lose its first packets several times over.
	DefaultPassLife = 10 * time.Second
	// MaxPassLife bounds how long a handshake that was overheard can be tried on us.
	MaxPassLife = time.Minute
	// DefaultTicketLife is what a client that lost its connection, or walks from LoginApp to BaseApp, needs.
	DefaultTicketLife = 10 * time.Minute
	// MaxTicketLife is that of TLS 1.3 (RFC 8446, section 4.6.1).
	MaxTicketLife = 7 * 24 * time.Hour
	// DefaultMaxUsed is the number of tickets that may be used within one TicketLife: with the default life a hundred a second, in
	// at most 6 MB.
	DefaultMaxUsed = 65536
	// DefaultMaxKept is the number of places of which a dialler keeps a ticket: far more than a client has servers.
	DefaultMaxKept = 256
	// MaxTicketKeys lets a key be taken in everywhere before it seals anywhere, and the last ones still open.
	MaxTicketKeys = 4
	// maxUsedPasses is the number of handshakes that may end in a session within PassLife. One core does not do so many.
	maxUsedPasses = 1 << 17
	// maxSkew is how much the clocks of apps that mint tickets for each other may differ.
	maxSkew = time.Minute
	// rounding is what times in whole seconds may come to, twice.
	rounding = 2 * time.Second
)

// Config says what a Guard may do and knows. Zero values mean the default named beside each field.
type Config struct {
	// Random is where keys and nonces come from: crypto/rand.Reader, and nothing weaker outside of tests. Required.
	Random io.Reader
	// Suite is what this app dials with (AESGCM). Accepted is either.
	Suite Suite

	// Key is the static key of an app that is dialled. Without one Answer refuses all.
	Key PrivateKey
	// ServerKey is the public key of the apps that this one dials, but for those that Guard.Pin knows another one of. Without
	// either a place cannot be dialled.
	ServerKey PublicKey

	// ClusterKeys are those of the cluster that this app is a process of: the first is dialled with, and a dialler may prove
	// any. Then a channel tells by its Standing what its peer has proved: who dials without a key is a mercury.Stranger. None:
	// all are mercury.Trusted.
	ClusterKeys []ClusterKey
	// Access is dialled with by an app that is no process of the cluster, but may observe or operate it. It goes without
	// ClusterKeys.
	Access AccessKey
	// Least is what a dialler must prove to be let in (mercury.Stranger: everyone is). A door that asks for proof takes no
	// tickets and gives none.
	Least mercury.Standing

	// PassLife is how long after a reply the dialler's first packet may come (DefaultPassLife, to the second).
	PassLife time.Duration
	// TicketLife is how long a ticket may be used (DefaultTicketLife, to the second). Longer spares more round trips; the
	// keys of tickets are changed as often, and until then who steals them reads the channels that were opened with them.
	TicketLife time.Duration
	// MaxUsed is how many tickets may be used within one TicketLife (DefaultMaxUsed). Above it tickets are refused, which costs
	// their owners a round trip.
	MaxUsed int
	// MaxKept is for how many places a dialler keeps a ticket (DefaultMaxKept). Beyond it the oldest goes.
	MaxKept int

	// TicketKeys are shared by the apps that mint tickets for each other: the first seals, all open. None: the Guard draws its
	// own, changes them each TicketLife, and its tickets are good with itself alone.
	TicketKeys []TicketKey
	// ID tells this start of this app from all other apps and starts that share TicketKeys: what has been used is remembered by
	// one start only. Required of an app with Key and TicketKeys; its salt and a number of its own make one.
	ID uint64
	// Epoch is the Unix time in seconds at now = 0, by which apps with common TicketKeys agree on what has run out. Required with
	// TicketKeys. Clocks may differ by a minute.
	Epoch int64
}

// withDefaults returns c with every zero field set.
func (c Config) withDefaults() Config {
	if c.Suite == 0 {
		c.Suite = AESGCM
	}
	if c.PassLife == 0 {
		c.PassLife = DefaultPassLife
	}
	if c.TicketLife == 0 {
		c.TicketLife = DefaultTicketLife
	}
	if c.MaxUsed == 0 {
		c.MaxUsed = DefaultMaxUsed
	}
	if c.MaxKept == 0 {
		c.MaxKept = DefaultMaxKept
	}
	return c
}

// Validate reports all faults of c at once, each with its remedy.
func (c Config) Validate() error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf("secure: Config."+format, args...))
		}
	}
	d := c.withDefaults()
	fault(d.Random == nil, "Random is nil: give crypto/rand.Reader")
	fault(!d.Suite.valid(), "Suite is %d: take AESGCM or ChaChaPoly", uint8(d.Suite))
	fault(d.PassLife < time.Second || d.PassLife > MaxPassLife, "PassLife is %v: take 1s to %v", d.PassLife, MaxPassLife)
	fault(d.TicketLife < time.Second || d.TicketLife > MaxTicketLife, "TicketLife is %v: take 1s to %v", d.TicketLife, MaxTicketLife)
	fault(d.MaxUsed < 1, "MaxUsed is %d: take at least 1", d.MaxUsed)
	fault(d.MaxKept < 1, "MaxKept is %d: take at least 1", d.MaxKept)
	fault(checkTicketKeys(d.TicketKeys) != nil, "TicketKeys: %v", checkTicketKeys(d.TicketKeys))
	fault(checkClusterKeys(d.ClusterKeys) != nil, "ClusterKeys: %v", checkClusterKeys(d.ClusterKeys))
	fault(!d.Access.IsZero() && len(d.ClusterKeys) > 0, "Access is given with ClusterKeys: who is a member needs none, leave it out")
	fault(d.Least > mercury.Member, "Least is %v: take mercury.Member or less", d.Least)
	fault(d.Least > mercury.Stranger && len(d.ClusterKeys) == 0, "Least is %v without ClusterKeys, which nobody could prove: give them", d.Least)
	shared := len(d.TicketKeys) > 0
	fault(shared && d.Epoch <= 0, "Epoch is %d: with TicketKeys give the Unix time at now = 0, else tickets of others seem to have run out", d.Epoch)
	fault(shared && !d.Key.IsZero() && d.ID == 0, "ID is 0: with TicketKeys give each start of each app its own, else a used ticket is good again elsewhere")
	return errors.Join(faults...)
}

func checkTicketKeys(keys []TicketKey) error {
	if len(keys) > MaxTicketKeys {
		return fmt.Errorf("%d of them: take up to %d", len(keys), MaxTicketKeys)
	}
	for i, k := range keys {
		if k.IsZero() {
			return fmt.Errorf("number %d is zero: draw it with GenerateTicketKey", i)
		}
	}
	return nil
}
