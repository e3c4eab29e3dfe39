package baseapp

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/tail"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// guest is the client's end of a session that goes over several channels.
type guest struct {
	player
	token protocol.Token
	has   protocol.Counts
	view  uint32   // the incarnation of which it has the view
	texts []string // what it was told, in order
	last  protocol.Resumed
	// resets is how often it was told to forget the cell part.
	resets int
}

// settle reads what came: the counts, the tokens, and the texts of what was relayed and called.
func (g *guest) settle() {
	g.r.t.Helper()
	for _, msg := range g.r.take(g.r.net.peers[g.ch]) {
		if s := protocol.StreamOf(msg); s != protocol.NoStream {
			g.has[s]++
		}
		if rest, ok := bytes.CutPrefix(msg, protocol.AppendAhead(nil)); ok {
			g.texts = append(g.texts, string(rest))
			continue
		}
		err := protocol.Messages(msg, func(id protocol.ID, body []byte) error {
			switch id {
			case protocol.AttachedID:
				var m protocol.Attached
				err := m.Parse(body)
				if g.last.Token == (protocol.Token{}) { // else it is older
					g.token = m.Token
				}
				return err
			case protocol.ResetID:
				g.resets++
			case protocol.ResumedID:
				err := g.last.Parse(body)
				g.token, g.has = g.last.Token, g.last.From
				return err
			case protocol.CallID:
				var m protocol.Call
				err := m.Parse(body)
				g.texts = append(g.texts, string(m.Args[1:]))
				return err
			}
			return nil
		})
		if err != nil {
			g.r.t.Fatal(err)
		}
	}
}

func (g *guest) hears() { g.say((&protocol.Heard{Has: g.has}).Append(nil)) }

// loses ends the channel as a network does.
func (g *guest) loses() { g.r.a.Closed(g.r.now, g.ch, mercury.ErrTimeout) }

// resumes goes on over another channel.
func (g *guest) resumes(n byte) {
	m := protocol.Resume{Token: g.token, Digest: g.r.schema.ClientDigest, Has: g.has, Incarnation: g.view}
	g.player = g.r.connect(n)
	g.say(m.Append(nil))
}

func (g *guest) wantTexts(want ...string) {
	g.r.t.Helper()
	g.settle()
	if !slices.Equal(g.texts, want) {
		g.r.t.Errorf("the client heard %q, want %q", g.texts, want)
	}
	g.texts = nil
}

// seated is a player who has shown its token, with the cell part live on X.
func seated(t testing.TB, change ...func(*Config)) (r *rig, g *guest, v *avatar) {
	r = joinedRig(t, change...)
	made := r.login("ann")
	g = &guest{player: r.connect(1), view: 1}
	g.attach(made.Token)
	v = r.script(made.ID)
	r.create(made.ID, v)
	r.current(appX, made.ID, 1, 0, 0)
	g.settle()
	if g.token == (protocol.Token{}) || g.has != (protocol.Counts{2, 0}) {
		t.Fatalf("token %v, counts %v", g.token, g.has)
	}
	g.hears()
	r.net.sent, r.events = nil, nil
	return r, g, v
}

// Nothing is lost or doubled in either direction when a channel is lost, whatever the client had had.
func TestResume(t *testing.T) {
	r, g, v := seated(t)
	id, number := v.ID(), uint64(0)
	relay := func(text string) { number++; r.up(appX, id, 1, number, bundle(1, text)) }
	chat := func(text string) {
		if err := v.Client().Call("chat", text); err != nil {
			t.Fatal(err)
		}
	}
	relay("one")
	chat("two")
	g.wantTexts("one", "two")
	g.hears()
	relay("three")
	chat("four") // on their way when the channel is lost
	g.say((&protocol.BaseCall{Method: 0, Args: buyArgs(r)}).Append(nil))
	r.wantEvents("buy hat 1")
	r.take(r.net.peers[g.ch])
	g.loses()
	r.wantEvents()
	relay("five")
	chat("six")
	r.pass(5 * time.Second)
	relay("seven")
	if !v.HasClient() {
		t.Error("the script believes that the client is gone")
	}
	old := g.token
	g.resumes(2)
	g.wantTexts("three", "four", "five", "six", "seven")
	if g.last.Handled != 1 || g.token == old || g.has != (protocol.Counts{5, 4}) {
		t.Errorf("resumed %+v, has %v", g.last, g.has)
	}
	g.hears()
	if n := r.a.byID[id].seat.tail.Len(); n != 0 {
		t.Errorf("%d messages are kept that the client has", n)
	}
	relay("eight")
	g.wantTexts("eight")
	if c := r.a.Counters(); c.Interrupted != 1 || c.Resumed != 1 {
		t.Errorf("%d interrupted, %d resumed", c.Interrupted, c.Resumed)
	}
	// The old token is dead.
	p := r.connect(3)
	p.say((&protocol.Resume{Token: old, Digest: r.schema.ClientDigest, Has: g.has}).Append(nil))
	p.wantRefused(protocol.BadToken)
	if r.net.ended[g.ch] {
		t.Error("the session suffered")
	}
}

func buyArgs(r *rig) []byte {
	args := codec.AppendString(nil, "hat")
	return append(args, 1, 0, 0, 0)
}

// A client that did not get the answer to its Resume comes again with the token that it has.
func TestResumeAgain(t *testing.T) {
	r, g, v := seated(t)
	g.loses()
	r.up(appX, v.ID(), 1, 1, bundle(1, "one"))
	before := *g
	for n := byte(2); n < 6; n++ {
		g.resumes(n)
		g.loses()
		g.token, g.has, g.texts = before.token, before.has, nil
	}
	g.resumes(7)
	g.wantTexts("one")
	g.hears()
	if len(r.a.seats) != 1 {
		t.Errorf("%d tokens are good", len(r.a.seats))
	}
}

// The newer channel wins, and the older one is dead.
func TestResumeWhileAttached(t *testing.T) {
	r, g, v := seated(t)
	old := g.player
	g.resumes(2)
	g.settle()
	if !r.net.ended[old.ch] || len(r.a.clients) != 1 {
		t.Error("the older channel lives")
	}
	r.events = nil
	old.say((&protocol.BaseCall{Method: 0, Args: buyArgs(r)}).Append(nil))
	r.wantEvents()
	g.say((&protocol.BaseCall{Method: 0, Args: buyArgs(r)}).Append(nil))
	r.wantEvents("buy hat 1")
	if !v.HasClient() {
		t.Error("the session has ended")
	}
}

func TestResumeTime(t *testing.T) {
	r, g, _ := seated(t, func(c *Config) { c.ResumeTime = 3 * time.Second })
	g.loses()
	r.pass(3*time.Second - DefaultTick)
	r.wantEvents()
	if again := r.login("ann"); protocol.Code(again.Code) != protocol.AlreadyLoggedIn {
		t.Errorf("another login: %+v", again)
	}
	r.tick()
	r.wantEvents("client death 17")
	g.resumes(2)
	g.wantRefused(protocol.ConnectionLost)
	if len(r.a.seats) != 0 {
		t.Error("the token is good")
	}
}

// A client that was away when its session ended is told why, and at once, also where others wait
// for bases that this app may inherit.
func TestTooLateToResume(t *testing.T) {
	for code, end := range map[protocol.Code]func(*rig, *base){
		protocol.ConnectionLost: func(r *rig, _ *base) { r.pass(DefaultResumeTime) },
		protocol.Kicked:         func(_ *rig, b *base) { _ = b.KickClient("good night") },
		protocol.Destroyed:      func(_ *rig, b *base) { b.Destroy() },
		protocol.Replaced: func(r *rig, b *base) {
			r.relogin("ann")
			r.connect(5).attach(r.made().Token)
		},
	} {
		r, g, b := warded(t)
		r.a.cfg.Relogin = TakeOver
		former := g.token
		g.loses()
		g.resumes(2)
		g.loses()
		end(r, b)
		shown := [...]protocol.Token{g.token, former} // the answer with the newer one may have been lost
		for i, token := range shown {
			g.token = token
			g.resumes(byte(3 + i))
			r.tick()
			g.wantRefused(code)
		}
	}
}

// The end of so many sessions is remembered as an app can have at once.
func TestEndsAreForgotten(t *testing.T) {
	var e ended
	token := func(i int) protocol.Token { return protocol.Token{1, byte(i), byte(i >> 8), byte(i >> 16)} }
	for i := range 2*maxEnded + 3 {
		e.note([2]protocol.Token{token(i), {}}, protocol.Refused{Code: protocol.Kicked})
		if oldest := max(0, i-maxEnded+1); e.endOf(token(oldest)) == nil || e.endOf(token(oldest-1)) != nil || len(e.why) != i-oldest+1 {
			t.Fatalf("after %d ends %d are known", i+1, len(e.why))
		}
	}
	if e.endOf(protocol.Token{}) != nil {
		t.Error("no token has an end")
	}
}

// endWithChannel has sessions end with their channels.
func endWithChannel(c *Config) { c.ResumeTime = -1 }

// Without a resume time, and for a client that says good-bye, the session ends with its channel.
func TestNoSeatIsKept(t *testing.T) {
	for name, x := range map[string]struct {
		change func(*Config)
		reason error
		code   protocol.Code
	}{
		"never":  {endWithChannel, mercury.ErrTimeout, protocol.ConnectionLost},
		"closed": {func(*Config) {}, mercury.ErrPeerClosed, protocol.LoggedOut},
		"breach": {func(*Config) {}, fmt.Errorf("%w: x", mercury.ErrFutureAck), protocol.Malformed},
	} {
		r := joinedRig(t, x.change)
		p, _, _ := r.playLive()
		p.say((&protocol.BaseCall{Method: 99}).Append(nil))
		r.a.Closed(r.now, p.ch, x.reason)
		if !slices.Equal(r.events, []string{fmt.Sprintf("client death %d", x.code)}) || len(r.a.seats) != 0 {
			t.Errorf("%s: %q, %d tokens", name, r.events, len(r.a.seats))
		}
	}
}

// The cell part is told when the client goes away, and when it is back; packets find nobody meanwhile.
func TestCellPartKnowsOfAbsence(t *testing.T) {
	r, g, _ := seated(t)
	var after uint64
	r.toldSessions(&after)
	g.loses()
	r.pass(time.Second)
	if s := one(t, r.toldSessions(&after)); s != (flow.Session{Number: 1, Room: 900, Away: true}) {
		t.Errorf("told %+v", s)
	}
	g.resumes(2)
	if s := one(t, r.toldSessions(&after)); s != (flow.Session{Number: 1, Room: 900}) {
		t.Errorf("told %+v", s)
	}
}

// What is kept for a client that is away is bounded, and so is what a client has not said it has.
func TestTailIsBounded(t *testing.T) {
	for _, away := range []bool{true, false} {
		r, g, v := seated(t)
		if away {
			g.loses()
		}
		long := string(make([]byte, 100_000))
		for number := uint64(1); len(r.events) == 0 && number < 100; number++ {
			r.up(appX, v.ID(), 1, number, bundle(1, long))
			r.tick()
			r.net.sent = nil
			if size := r.a.byID[v.ID()].seat; size != nil && size.tail.Size() > MaxClientTail+len(long)+tail.Overhead {
				t.Fatalf("%d bytes are kept", size.tail.Size())
			}
		}
		r.wantEvents(fmt.Sprintf("client death %d", protocol.TooSlow))
	}
}

// A tail is sent bit by bit, so that its client is not taken for a slow one.
func TestTailIsPaced(t *testing.T) {
	r, g, v := seated(t)
	g.loses()
	for number := uint64(1); number <= 50; number++ {
		r.up(appX, v.ID(), 1, number, bundle(1, string(make([]byte, 10_000))))
	}
	at := address(102, 2)
	r.net.waiting = map[mercury.Address]int{at: resendRoom}
	g.resumes(2)
	r.pass(time.Second)
	if g.settle(); len(g.texts) != 0 {
		t.Fatalf("%d messages found a full channel", len(g.texts))
	}
	r.net.waiting[at] = resendRoom - 1
	r.tick()
	if g.settle(); len(g.texts) != 50 {
		t.Errorf("%d messages came", len(g.texts))
	}
}

func TestHostileResumes(t *testing.T) {
	r, g, v := seated(t)
	r.up(appX, v.ID(), 1, 1, bundle(1, "one"))
	g.settle()
	for name, x := range map[string]struct {
		msg  protocol.Resume
		code protocol.Code
	}{
		"guess":       {protocol.Resume{Token: protocol.Token{1}, Digest: r.schema.ClientDigest}, protocol.BadToken},
		"none":        {protocol.Resume{Digest: r.schema.ClientDigest}, protocol.BadToken},
		"digest":      {protocol.Resume{Token: g.token}, protocol.BadDigest},
		"base counts": {protocol.Resume{Token: g.token, Digest: r.schema.ClientDigest, Has: protocol.Counts{3, 1}}, protocol.Malformed},
		"cell counts": {protocol.Resume{Token: g.token, Digest: r.schema.ClientDigest, Has: protocol.Counts{2, 2}}, protocol.Malformed},
	} {
		before := r.a.Counters().Refused
		p := r.connect(9)
		p.say(x.msg.Append(nil))
		p.wantRefused(x.code)
		if r.a.Counters().Refused != before+1 {
			t.Errorf("%s: not counted", name)
		}
	}
	r.up(appX, v.ID(), 1, 2, bundle(1, "two"))
	g.wantTexts("one", "two")
	// A session's token attaches nobody.
	p := r.connect(7)
	p.attach(g.token)
	p.wantRefused(protocol.BadToken)
	// To have had what was never sent ends the own session.
	g.has[protocol.BaseStream]++
	g.hears()
	g.wantRefused(protocol.Malformed)
}

// What a client could not say while its channel was lost it may say at once.
func TestResumedClientCatchesUp(t *testing.T) {
	r, g, _ := seated(t)
	g.loses()
	r.pass(3 * time.Second)
	g.resumes(2)
	call := (&protocol.BaseCall{Method: 9}).Append(nil)
	for range 3 * DefaultUploadMessages {
		g.say(call)
	}
	if r.net.ended[g.ch] {
		t.Fatal("it was taken for a flood")
	}
	for range DefaultUploadMessages + 1 {
		g.say(call)
	}
	g.wantRefused(protocol.Flooding)
}

// A client is told what is settled once a second, or when it is much.
func TestSettled(t *testing.T) {
	r, g, _ := seated(t)
	told := func() (n uint64) {
		for _, msg := range r.take(r.net.peers[g.ch]) {
			_ = protocol.Messages(msg, func(id protocol.ID, body []byte) (err error) {
				if id == protocol.SettledID {
					n, err = protocol.ParseSettled(body)
				}
				return err
			})
		}
		return n
	}
	call := (&protocol.BaseCall{Method: 9}).Append(nil)
	g.say(call)
	r.tick()
	if n := told(); n != 1 {
		t.Errorf("told %d", n)
	}
	g.say(call)
	r.pass(settledPeriod - 2*DefaultTick)
	if n := told(); n != 0 {
		t.Errorf("told %d within the period", n)
	}
	for range settledMany {
		g.say(call)
	}
	r.tick()
	if n := told(); n != settledMany+2 {
		t.Errorf("told %d", n)
	}
}

// Where several apps hold copies, all of them may go on with the session, and the heir comes first.
func TestFallbackOfSeveral(t *testing.T) {
	r, _, v := seated(t)
	at := map[mercury.Address]protocol.Door{appW: {Network: protocol.UDP, Address: address(77, 7)}, appV: {Network: protocol.UDP, Address: address(78, 8)}}
	rule := migrate.Rule{Version: 1, Replicas: 2, List: []mercury.Address{appW, appV}}
	r.a.copying.ruling.rules = rule
	r.a.neighbours = []neighbour{{appV, []protocol.Door{at[appV]}}, {appW, []protocol.Door{at[appW]}}}
	var want []protocol.Door
	for _, h := range rule.Holders(nil, r.a.net.Self(), v.ID()) {
		want = append(want, at[h])
	}
	if got := r.a.fallback(r.a.byID[v.ID()]); len(got) != 2 || !slices.Equal(got, want) {
		t.Errorf("it goes to %v, want %v", got, want)
	}
}

func TestFallback(t *testing.T) {
	r, g, v := seated(t)
	doors := []protocol.Door{{Network: protocol.UDP, Address: address(77, 7)}}
	r.a.byID[v.ID()].seat.fallTo(doors)
	g.wantHeard("[56]")
	g.loses()
	g.resumes(2)
	g.wantHeard("[54]", "[56]")
}
