package secure

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/cellscape/cellscape/internal/faults"
	"github.com/cellscape/cellscape/mercury"
)

// Defaults and bounds of Config.
const (
	// DefaultPassLife leaves a dialler time to lose its first packets several times over.
	DefaultPassLife = 10 * time.Second
	// MaxPassLife bounds how long an overheard handshake can be replayed to us.
	MaxPassLife = time.Minute
	// DefaultTicketLife is enough for a client that has lost its connection, or goes from LoginApp
	// to BaseApp.
	DefaultTicketLife = 10 * time.Minute
	// MaxTicketLife is the limit of TLS 1.3 (RFC 8446, section 4.6.1).
	MaxTicketLife = 7 * 24 * time.Hour
	// DefaultMaxUsed is the number of tickets that may be used within one TicketLife: with the
	// default life a hundred a second, in at most 6 MB.
	DefaultMaxUsed = 65536
	// DefaultMaxKept is the number of places for which a dialler keeps a ticket: far more than a
	// client has servers.
	DefaultMaxKept = 256
	// MaxTicketKeys is enough to add a key everywhere before it seals anywhere, while old ones
	// still open.
	MaxTicketKeys = 4
	// maxUsedPasses is the number of handshakes that may end in a session within PassLife: more
	// than one core can do.
	maxUsedPasses = 1 << 17
	// maxSkew is how much the clocks of apps that mint tickets for each other may differ.
	maxSkew = time.Minute
	// rounding is the most that two times may differ by because they are in whole seconds.
	rounding = 2 * time.Second
)

// Config configures a Guard. Zero values mean the default named in each field.
type Config struct {
	// Random is the source of keys and nonces: crypto/rand.Reader, and nothing weaker outside of
	// tests. Required.
	Random io.Reader
	// Suite is the suite that this app dials with (AESGCM). It accepts both.
	Suite Suite

	// Key is the static key of an app that is dialled. Without it Answer refuses all hellos.
	Key PrivateKey
	// ServerKey is the public key of the apps that this one dials, except where Guard.Pin names
	// another. A place without either cannot be dialled.
	ServerKey PublicKey

	// ClusterKeys are the keys of the cluster that this app is a process of. The app dials with the
	// first, and a dialler may prove any. The Standing of a channel tells what its peer has proved;
	// a dialler without a key is a mercury.Stranger. Without ClusterKeys all peers are
	// mercury.Trusted.
	ClusterKeys []ClusterKey
	// Access is for an app outside of the cluster that may observe or operate it; the app dials
	// with it. It excludes ClusterKeys.
	Access AccessKey
	// Least is what a dialler must prove to get in (mercury.Stranger admits everyone). A door that
	// asks for proof takes no tickets and gives none.
	Least mercury.Standing

	// PassLife is how long after a reply the dialler's first packet may come (DefaultPassLife, to
	// the second).
	PassLife time.Duration
	// TicketLife is how long a ticket may be used (DefaultTicketLife, to the second). A longer life
	// spares more round trips. The keys of tickets change as often, and until then a thief of such
	// a key can read the channels that were opened with its tickets.
	TicketLife time.Duration
	// MaxUsed is how many tickets may be used within one TicketLife (DefaultMaxUsed). Further
	// tickets are refused, which costs their owners a round trip.
	MaxUsed int
	// MaxKept is the number of places for which a dialler keeps a ticket (DefaultMaxKept). Beyond
	// it the oldest ticket goes.
	MaxKept int

	// TicketKeys are shared by apps that mint tickets for each other: the first seals, and all
	// open. Without them the Guard draws its own keys, changes them each TicketLife, and only
	// accepts its own tickets.
	TicketKeys []TicketKey
	// ID distinguishes this start of this app from all other apps and starts that share TicketKeys,
	// because only one start remembers which tickets were used. Required for an app with Key and
	// TicketKeys; make it from the salt and a number of the app's own.
	ID uint64
	// Epoch is the Unix time in seconds at now = 0, by which apps with common TicketKeys agree on
	// what has expired. Required with TicketKeys. Clocks may differ by a minute.
	Epoch int64
}

// withDefaults returns c with its zero fields filled in.
func (c Config) withDefaults() Config {
	c.Suite = cmp.Or(c.Suite, AESGCM)
	c.PassLife = cmp.Or(c.PassLife, DefaultPassLife)
	c.TicketLife = cmp.Or(c.TicketLife, DefaultTicketLife)
	c.MaxUsed = cmp.Or(c.MaxUsed, DefaultMaxUsed)
	c.MaxKept = cmp.Or(c.MaxKept, DefaultMaxKept)
	return c
}

// Validate reports all faults of c at once, each with its remedy.
func (c Config) Validate() error {
	all := faults.In("secure: Config.")
	fault := all.If
	d := c.withDefaults()
	fault(d.Random == nil, "Random is nil: give crypto/rand.Reader")
	fault(!d.Suite.valid(), "Suite is %d: take AESGCM or ChaChaPoly", uint8(d.Suite))
	fault(d.PassLife < time.Second || d.PassLife > MaxPassLife, "PassLife is %v: take 1s to %v", d.PassLife, MaxPassLife)
	fault(d.TicketLife < time.Second || d.TicketLife > MaxTicketLife, "TicketLife is %v: take 1s to %v", d.TicketLife, MaxTicketLife)
	fault(d.MaxUsed < 1, "MaxUsed is %d: take at least 1", d.MaxUsed)
	fault(d.MaxKept < 1, "MaxKept is %d: take at least 1", d.MaxKept)
	fault(checkTicketKeys(d.TicketKeys) != nil, "TicketKeys: %v", checkTicketKeys(d.TicketKeys))
	fault(checkClusterKeys(d.ClusterKeys) != nil, "ClusterKeys: %v", checkClusterKeys(d.ClusterKeys))
	fault(!d.Access.IsZero() && len(d.ClusterKeys) > 0, "Access is given with ClusterKeys: a member needs none, leave it out")
	fault(d.Least > mercury.Member, "Least is %v: take mercury.Member or less", d.Least)
	fault(d.Least > mercury.Stranger && len(d.ClusterKeys) == 0, "Least is %v without ClusterKeys, which nobody could prove: give them", d.Least)
	shared := len(d.TicketKeys) > 0
	fault(shared && d.Epoch <= 0, "Epoch is %d: with TicketKeys give the Unix time at now = 0, or tickets of others seem to have expired", d.Epoch)
	fault(shared && !d.Key.IsZero() && d.ID == 0, "ID is 0: with TicketKeys give each start of each app its own, or a used ticket is good again elsewhere")
	return all.Err()
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
