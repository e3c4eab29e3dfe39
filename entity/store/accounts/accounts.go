package accounts

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/loginapp"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/property"
)

// typeName is the type of the rows.
const typeName = "cellscape.accounts"

const (
	// MaxName is the longest name, in bytes: that of an account of a LoginApp.
	MaxName = 256
	// MaxPassword is the longest password, in bytes. Hashing takes the whole.
	MaxPassword = 1024
)

// ErrDisabled: the password is right, and the account may not play.
var ErrDisabled = errors.New("accounts: the account is disabled")

// Config says how accounts are kept. The zero value is ready for use.
type Config struct {
	// Hash is what new hashes cost. The default is 19 MiB and two passes.
	Hash Params
	// Memory bounds what all hashes under way take together, in bytes, default 128 MiB. A single hash
	// that needs more has it for itself.
	Memory int64
	// CreateUnknown creates an account when somebody logs in with a name that nobody has.
	CreateUnknown bool
	// Random is where salts come from, default crypto/rand.
	Random io.Reader
}

// Store is what accounts need of a store, to which Type was applied.
type Store interface {
	Create(ctx context.Context, records []store.Record) error
	Write(ctx context.Context, records []store.Record) error
	Load(ctx context.Context, wants []store.Want) ([]store.Loaded, error)
	Reserve(ctx context.Context, c store.Counter, n uint64) (first uint64, err error)
}

// Accounts are the accounts of a store.
type Accounts struct {
	store  Store
	cfg    Config
	memory *semaphore.Weighted
	dummy  *hash // to spend the same time on an unknown name

	upgraded, notUpgraded atomic.Uint64
}

var _ loginapp.Auth = (*Accounts)(nil)

// Account is what is known of an account.
type Account struct {
	ID       store.ID // stays when the name changes
	Name     string
	Disabled bool
	// Entity is what the account plays, as Link has set it; the zero Key at first.
	Entity store.Key
}

// row is the data of an account's record.
type row struct {
	Hash     string   `json:"hash"`
	Disabled bool     `json:"disabled,omitempty"`
	Type     string   `json:"type,omitempty"`
	Entity   store.ID `json:"entity,omitempty"`
}

// Type returns the type of the rows, for [store.NewSchema].
func Type() (*store.Type, error) {
	name, err := store.NewColumn("name", property.Scalar(property.KindUnicodeString), MaxName)
	if err != nil {
		return nil, err
	}
	name.Identifier = true
	return store.NewType(typeName, name)
}

// New returns the accounts of a store. The error tells what of cfg is out of bounds.
func New(s Store, cfg Config) (*Accounts, error) {
	cfg.Hash.Memory = cmp.Or(cfg.Hash.Memory, 19<<10)
	cfg.Hash.Passes = cmp.Or(cfg.Hash.Passes, 2)
	cfg.Hash.Threads = cmp.Or(cfg.Hash.Threads, 1)
	cfg.Memory = cmp.Or(cfg.Memory, 128<<20)
	if cfg.Random == nil {
		cfg.Random = rand.Reader
	}
	if err := cfg.Hash.check(); err != nil {
		return nil, err
	}
	if cfg.Memory < 0 {
		return nil, fmt.Errorf("%w: Memory is %d", store.ErrValue, cfg.Memory)
	}
	dummy := &hash{Params: cfg.Hash, salt: make([]byte, saltLength), key: make([]byte, keyLength)}
	return &Accounts{store: s, cfg: cfg, memory: semaphore.NewWeighted(cfg.Memory), dummy: dummy}, nil
}

// Authenticate implements loginapp.Auth. The account is the name, and
// the entity that which Link has set.
func (a *Accounts) Authenticate(ctx context.Context, user, password string) (loginapp.Player, error) {
	found, err := a.Verify(ctx, user, password)
	if a.cfg.CreateUnknown && errors.Is(err, errUnknown) {
		if found, err = a.Create(ctx, user, password); errors.Is(err, store.ErrTaken) { // somebody was faster
			found, err = a.Verify(ctx, user, password)
		}
	}
	switch {
	case err == nil:
		return loginapp.Player{Account: found.Name, Entity: found.Entity}, nil
	case errors.Is(err, ErrDisabled):
		return loginapp.Player{}, fmt.Errorf("%w: %w", err, &protocol.Refused{Code: protocol.Kicked, Reason: "this account is disabled"})
	case errors.Is(err, loginapp.ErrCredentials), errors.Is(err, store.ErrValue):
		return loginapp.Player{}, err
	}
	return loginapp.Player{}, fmt.Errorf("%w: %w", loginapp.ErrUnavailable, err)
}

// errUnknown is the error of a name that nobody has: to everyone outside it is the same as a wrong
// password.
var errUnknown = fmt.Errorf("%w", loginapp.ErrCredentials)

// Verify returns the account of a name, if the password is right. Errors are loginapp.ErrCredentials,
// ErrDisabled, and those of the store. A hash of other parameters than Config.Hash is replaced; if
// that fails, the login does not: see Upgrades.
func (a *Accounts) Verify(ctx context.Context, name, password string) (Account, error) {
	if len(password) > MaxPassword {
		return Account{}, fmt.Errorf("%w: the password has %d bytes", loginapp.ErrCredentials, len(password))
	}
	r, rec, err := a.load(ctx, name)
	unknown := errors.Is(err, store.ErrMissing) || errors.Is(err, store.ErrValue)
	if err != nil && !unknown {
		return Account{}, err
	}
	h := a.dummy
	if !unknown {
		if h, err = parseHash(r.Hash); err != nil {
			return Account{}, err
		}
	}
	right := false
	if err := a.hashing(ctx, h.Params, func() { right = h.matches(password) }); err != nil {
		return Account{}, err
	}
	switch {
	case unknown:
		return Account{}, errUnknown
	case !right:
		return Account{}, loginapp.ErrCredentials
	case r.Disabled:
		return Account{}, ErrDisabled
	}
	if h.Params != a.cfg.Hash {
		if err := a.setPassword(ctx, r, rec, password); err != nil {
			a.notUpgraded.Add(1)
		} else {
			a.upgraded.Add(1)
		}
	}
	return account(r, rec), nil
}

// Upgrades tells how many hashes of older parameters logins have replaced, and how often that failed.
func (a *Accounts) Upgrades() (done, failed uint64) { return a.upgraded.Load(), a.notUpgraded.Load() }

// Create makes an account. Errors are store.ErrTaken, store.ErrValue for a name or password that is
// empty or too long, and others of the store.
func (a *Accounts) Create(ctx context.Context, name, password string) (Account, error) {
	if name == "" || password == "" || len(password) > MaxPassword {
		return Account{}, fmt.Errorf("%w: a name of %d bytes and a password of %d: each takes at least one, and at most %d and %d",
			store.ErrValue, len(name), len(password), MaxName, MaxPassword)
	}
	r := &row{}
	if err := a.hash(ctx, r, password); err != nil {
		return Account{}, err
	}
	id, err := a.store.Reserve(ctx, store.EntityIDs(typeName), 1)
	if err != nil {
		return Account{}, err
	}
	rec := &store.Record{Key: store.Key{Type: typeName, ID: store.ID(id)}, Columns: []property.Value{property.StringValue(name)}}
	return a.save(ctx, r, rec, a.store.Create)
}

// Find returns an account without its password; the error is store.ErrMissing if there is none.
func (a *Accounts) Find(ctx context.Context, name string) (Account, error) {
	r, rec, err := a.load(ctx, name)
	if err != nil {
		return Account{}, err
	}
	return account(r, rec), nil
}

// SetPassword replaces the password.
func (a *Accounts) SetPassword(ctx context.Context, name, password string) error {
	if password == "" || len(password) > MaxPassword {
		return fmt.Errorf("%w: a password of %d bytes", store.ErrValue, len(password))
	}
	r, rec, err := a.load(ctx, name)
	if err != nil {
		return err
	}
	return a.setPassword(ctx, r, rec, password)
}

// Rename gives an account another name; the error is store.ErrTaken if somebody has it.
func (a *Accounts) Rename(ctx context.Context, name, to string) error {
	if to == "" {
		return fmt.Errorf("%w: an empty name", store.ErrValue)
	}
	return a.change(ctx, name, func(_ *row, rec *store.Record) { rec.Columns = []property.Value{property.StringValue(to)} })
}

// Disable keeps an account from logging in, or lets it again.
func (a *Accounts) Disable(ctx context.Context, name string, disabled bool) error {
	return a.change(ctx, name, func(r *row, _ *store.Record) { r.Disabled = disabled })
}

// Link says which entity an account plays.
func (a *Accounts) Link(ctx context.Context, name string, e store.Key) error {
	return a.change(ctx, name, func(r *row, _ *store.Record) { r.Type, r.Entity = e.Type, e.ID })
}

func (a *Accounts) change(ctx context.Context, name string, edit func(r *row, rec *store.Record)) error {
	r, rec, err := a.load(ctx, name)
	if err != nil {
		return err
	}
	edit(r, rec)
	_, err = a.save(ctx, r, rec, a.store.Write)
	return err
}

func (a *Accounts) setPassword(ctx context.Context, r *row, rec *store.Record, password string) error {
	if err := a.hash(ctx, r, password); err != nil {
		return err
	}
	_, err := a.save(ctx, r, rec, a.store.Write)
	return err
}

// hash puts the hash of a password into a row.
func (a *Accounts) hash(ctx context.Context, r *row, password string) error {
	var h *hash
	var failed error
	if err := a.hashing(ctx, a.cfg.Hash, func() { h, failed = newHash(a.cfg.Hash, password, a.cfg.Random) }); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	r.Hash = h.String()
	return nil
}

// hashing runs do when there is memory for it.
func (a *Accounts) hashing(ctx context.Context, p Params, do func()) error {
	n := min(int64(p.Memory)<<10, a.cfg.Memory)
	if err := a.memory.Acquire(ctx, n); err != nil {
		return fmt.Errorf("%w: waiting to hash: %w", store.ErrBusy, err)
	}
	defer a.memory.Release(n)
	do()
	return nil
}

func (a *Accounts) load(ctx context.Context, name string) (*row, *store.Record, error) {
	list, err := a.store.Load(ctx, []store.Want{{Key: store.Key{Type: typeName}, Identifier: property.StringValue(name)}})
	if err != nil {
		return nil, nil, err
	}
	if list[0].Err != nil {
		return nil, nil, list[0].Err
	}
	r, rec := &row{}, &list[0].Record
	if err := json.Unmarshal(rec.Data, r); err != nil {
		return nil, nil, fmt.Errorf("%w: account %d: %w", store.ErrForm, rec.ID, err)
	}
	return r, rec, nil
}

func (a *Accounts) save(ctx context.Context, r *row, rec *store.Record, put func(context.Context, []store.Record) error) (Account, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return Account{}, fmt.Errorf("%w: %w", store.ErrValue, err)
	}
	rec.Data, rec.Version, rec.Holder = data, rec.Version+1, store.Holder{}
	if err := put(ctx, []store.Record{*rec}); err != nil {
		return Account{}, err
	}
	return account(r, rec), nil
}

func account(r *row, rec *store.Record) Account {
	return Account{ID: rec.ID, Name: rec.Columns[0].Str(), Disabled: r.Disabled, Entity: store.Key{Type: r.Type, ID: r.Entity}}
}
