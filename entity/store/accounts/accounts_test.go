package accounts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/loginapp"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/memory"
	"github.com/cellscape/cellscape/property"
)

// cheap is as little as a hash can cost.
func cheap() Params { return Params{Memory: 8, Passes: 1, Threads: 1} }

// kept is a store for accounts.
func kept(t testing.TB) *memory.Store {
	t.Helper()
	typ, err := Type()
	if err != nil {
		t.Fatal(err)
	}
	ps, err := property.NewSchema()
	if err != nil {
		t.Fatal(err)
	}
	schema, err := store.NewSchema(ps, typ)
	if err != nil {
		t.Fatal(err)
	}
	s := memory.New()
	if _, err := s.Apply(context.Background(), schema, false); err != nil {
		t.Fatal(err)
	}
	return s
}

func made(t testing.TB, s Store, cfg Config) *Accounts {
	t.Helper()
	if cfg.Hash == (Params{}) {
		cfg.Hash = cheap()
	}
	a, err := New(s, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestLogin(t *testing.T) {
	ctx := context.Background()
	a := made(t, kept(t), Config{})
	ada, err := a.Create(ctx, "Ada", "secret")
	if err != nil || ada.Name != "Ada" || !ada.ID.Valid() {
		t.Fatalf("%+v, %v", ada, err)
	}
	if _, err := a.Create(ctx, "Ada", "other"); !errors.Is(err, store.ErrTaken) {
		t.Errorf("a second Ada: %v", err)
	}
	login := func(name, password string, want error) {
		t.Helper()
		player, err := a.Authenticate(ctx, name, password)
		account := player.Account
		if !errors.Is(err, want) || (err == nil) != (account == name && name != "") {
			t.Errorf("%q with %q: %q, %v; want %v", name, password, account, err, want)
		}
	}
	login("Ada", "secret", nil)
	login("Ada", "Secret", loginapp.ErrCredentials)
	login("Ada", "", loginapp.ErrCredentials)
	login("Ada", strings.Repeat("x", MaxPassword+1), loginapp.ErrCredentials)
	for _, nobody := range []string{"Eve", "", "\x00", "\xff", strings.Repeat("x", 300)} {
		login(nobody, "secret", loginapp.ErrCredentials)
	}
	wrong, unknown := error(nil), error(nil)
	_, wrong = a.Authenticate(ctx, "Ada", "no")
	_, unknown = a.Authenticate(ctx, "Eve", "no")
	if wrong.Error() != unknown.Error() {
		t.Errorf("the errors tell who exists: %v, %v", wrong, unknown)
	}
	if err := a.Disable(ctx, "Ada", true); err != nil {
		t.Fatal(err)
	}
	login("Ada", "secret", ErrDisabled)
	login("Ada", "no", loginapp.ErrCredentials)
	var told *protocol.Refused
	if _, err := a.Authenticate(ctx, "Ada", "secret"); !errors.As(err, &told) || told.Code != protocol.Kicked || told.Reason == "" {
		t.Errorf("who knows the password is told %+v", told)
	}
	if _, err := a.Authenticate(ctx, "Ada", "no"); errors.As(err, &told) {
		t.Errorf("who does not is told %+v", told)
	}
	if err := errors.Join(a.Disable(ctx, "Ada", false), a.Rename(ctx, "Ada", "Ada L."), a.SetPassword(ctx, "Ada L.", "new"),
		a.Link(ctx, "Ada L.", store.Key{Type: "Avatar", ID: 7})); err != nil {
		t.Fatal(err)
	}
	login("Ada", "secret", loginapp.ErrCredentials)
	login("Ada L.", "secret", loginapp.ErrCredentials)
	login("Ada L.", "new", nil)
	got, err := a.Find(ctx, "Ada L.")
	if want := (Account{ID: ada.ID, Name: "Ada L.", Entity: store.Key{Type: "Avatar", ID: 7}}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := a.Create(ctx, "Eve", "x"); err != nil {
		t.Fatal(err)
	}
	if err := a.Rename(ctx, "Eve", "Ada L."); !errors.Is(err, store.ErrTaken) {
		t.Errorf("a name that is taken: %v", err)
	}
	if err := a.Disable(ctx, "Bo", true); !errors.Is(err, store.ErrMissing) {
		t.Error(err)
	}
	for _, bad := range [][2]string{{"", "x"}, {"x", ""}, {strings.Repeat("x", MaxName+1), "x"}, {"x", strings.Repeat("x", MaxPassword+1)}, {"a\x00", "x"}} {
		if _, err := a.Create(ctx, bad[0], bad[1]); !errors.Is(err, store.ErrValue) {
			t.Errorf("%.9q, %.9q: %v", bad[0], bad[1], err)
		}
	}
}

func TestCreateUnknown(t *testing.T) {
	ctx := context.Background()
	a := made(t, kept(t), Config{CreateUnknown: true})
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			if player, err := a.Authenticate(ctx, "Ada", "secret"); err != nil || player.Account != "Ada" {
				t.Errorf("%q, %v", player.Account, err)
			}
		})
	}
	wait.Wait()
	if _, err := a.Authenticate(ctx, "Ada", "other"); !errors.Is(err, loginapp.ErrCredentials) {
		t.Error(err)
	}
	if _, err := a.Authenticate(ctx, "", "x"); err == nil {
		t.Error("an account without a name")
	}
}

// A login replaces a hash that costs less than it should now.
func TestUpgrade(t *testing.T) {
	ctx, s := context.Background(), kept(t)
	old := made(t, s, Config{})
	if _, err := old.Create(ctx, "Ada", "secret"); err != nil {
		t.Fatal(err)
	}
	hashOf := func() string {
		r, _, err := old.load(ctx, "Ada")
		if err != nil {
			t.Fatal(err)
		}
		return r.Hash
	}
	dear := made(t, s, Config{Hash: Params{Memory: 16, Passes: 2, Threads: 1}})
	if _, err := dear.Verify(ctx, "Ada", "wrong"); err == nil || !strings.Contains(hashOf(), "m=8,t=1,p=1") {
		t.Errorf("a wrong password replaced %s, %v", hashOf(), err)
	}
	for range 2 {
		if _, err := dear.Verify(ctx, "Ada", "secret"); err != nil || !strings.Contains(hashOf(), "$m=16,t=2,p=1$") {
			t.Fatalf("%s, %v", hashOf(), err)
		}
	}
	if done, failed := dear.Upgrades(); done != 1 || failed != 0 {
		t.Errorf("%d and %d", done, failed)
	}
	// That it cannot be replaced is no reason to keep the player out.
	stuck := made(t, away{s}, Config{Hash: Params{Memory: 32, Passes: 1, Threads: 1}})
	if _, err := stuck.Verify(ctx, "Ada", "secret"); err != nil {
		t.Error(err)
	}
	if done, failed := stuck.Upgrades(); done != 0 || failed != 1 {
		t.Errorf("%d and %d", done, failed)
	}
}

// away is a store that only reads.
type away struct{ Store }

func (away) Write(context.Context, []store.Record) error { return store.ErrAway }

// gone is a store that cannot be reached.
type gone struct{ Store }

func (gone) Load(context.Context, []store.Want) ([]store.Loaded, error) {
	return nil, fmt.Errorf("%w: no route", store.ErrAway)
}

func TestUnavailable(t *testing.T) {
	a := made(t, gone{}, Config{})
	if _, err := a.Authenticate(context.Background(), "Ada", "x"); !errors.Is(err, loginapp.ErrUnavailable) || !errors.Is(err, store.ErrRetry) {
		t.Error(err)
	}
}

// Hashes wait for memory, and no longer than their context.
func TestMemory(t *testing.T) {
	s := kept(t)
	a := made(t, s, Config{Memory: 8 << 10})
	if _, err := a.Create(context.Background(), "Ada", "x"); err != nil {
		t.Fatal(err)
	}
	hold, release := make(chan struct{}), make(chan struct{})
	go func() {
		if err := a.hashing(context.Background(), cheap(), func() { close(hold); <-release }); err != nil {
			t.Error(err)
		}
	}()
	<-hold
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := a.Authenticate(ctx, "Ada", "x"); !errors.Is(err, loginapp.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("without memory: %v", err)
	}
	close(release)
	if _, err := a.Authenticate(context.Background(), "Ada", "x"); err != nil {
		t.Error(err)
	}
	if err := a.hashing(context.Background(), Params{Memory: 1 << 20, Passes: 1, Threads: 1}, func() {}); err != nil {
		t.Errorf("more than there is, alone: %v", err)
	}
}

// An unknown name is hashed for just as a known one, at the same cost: where there is no memory to
// hash, neither gets an answer.
func TestUnknownCosts(t *testing.T) {
	p := Params{Memory: 64, Passes: 1, Threads: 1}
	a := made(t, kept(t), Config{Hash: p, Memory: 64 << 10})
	if _, err := a.Create(context.Background(), "Ada", "x"); err != nil {
		t.Fatal(err)
	}
	if a.dummy.Params != p || len(a.dummy.salt) != saltLength || len(a.dummy.key) != keyLength {
		t.Errorf("an unknown name is hashed for as %+v", a.dummy)
	}
	least := Params{Memory: 8, Passes: 1, Threads: 1}
	err := a.hashing(context.Background(), least, func() { // leaves less than a hash needs
		for _, name := range []string{"Ada", "Eve", "\x00"} {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
			if _, err := a.Verify(ctx, name, "wrong"); !errors.Is(err, store.ErrBusy) {
				t.Errorf("%q is answered without a hash: %v", name, err)
			}
			cancel()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestConfig(t *testing.T) {
	for _, cfg := range []Config{{Hash: Params{Memory: 1 << 21}}, {Hash: Params{Passes: 65}}, {Hash: Params{Threads: 17}}, {Hash: Params{Memory: 8, Threads: 2}}, {Memory: -1}} {
		if _, err := New(kept(t), cfg); err == nil {
			t.Errorf("%+v is taken", cfg)
		}
	}
	a := made(t, kept(t), Config{Random: io.LimitReader(strings.NewReader(""), 0)})
	if _, err := a.Create(context.Background(), "Ada", "x"); err == nil {
		t.Error("a hash without salt")
	}
}

// The text of a hash comes from a database.
func FuzzParseHash(f *testing.F) {
	h, err := newHash(cheap(), "secret", rand.NewChaCha8([32]byte{}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(h.String())
	f.Add("$argon2id$v=19$m=4294967295,t=4294967295,p=255$AAAAAAAAAAA$AAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, s string) {
		h, err := parseHash(s)
		if err != nil {
			return
		}
		if h.Memory > maxMemory || h.Passes > maxPasses || h.Threads > maxThreads || len(h.salt) > maxLength || len(h.key) > maxLength {
			t.Fatalf("out of bounds: %+v", h)
		}
		if again, err := parseHash(h.String()); err != nil || again.String() != h.String() {
			t.Fatalf("%s did not come back: %v", h, err)
		}
	})
}
