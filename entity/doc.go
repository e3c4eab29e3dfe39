// Package entity is what a script author needs to know of entities: their ids, parts and lives, the
// base part that a script embeds, and the mailboxes by which parts call each other.
//
// # Who is who
//
// An entity has up to three parts. The cell part lives in a space and moves from CellApp to
// CellApp. Its one authoritative copy is the real; read-only copies on neighbouring CellApps are
// its ghosts. The base part stays on a BaseApp; a base with a client is a proxy. The client part is
// in a player's program.
//
// A real is named by (id, incarnation, hop). Every offload adds one to hop. Only the base starts a
// new incarnation, and only after a death verdict. Order compares the two, and an app with a newer
// order refuses an older one.
//
// # Calls
//
// Parts of entities call each other by Mailbox. A property, an argument or a result of type MAILBOX
// becomes one by Base.Mailbox and space.Real.Mailbox; Lookup makes one of an id. Where a mailbox is
// wanted a script may be given, and stands for its own. There are eight kinds:
//
//	CellMailbox      the cell part, by way of where it is or, if nobody here knows, of its base
//	CellViaBase      the same
//	BaseMailbox      the base
//	BaseViaCell      the base, handed on by the cell part
//	ClientMailbox    the client, by way of its base
//	ClientViaBase    the same
//	ClientViaCell    the client, handed on by the cell part
//	ServiceMailbox   a service, by one of its fragments; by Lookup with any id, or 0
//
// Who may call whom:
//
//	a cell part   any cell part, base and client; besides, at its own client only, the client
//	              methods of an entity that this sees (space.Real.ClientEntity)
//	a base        any cell part, base and client
//	a client      exposed methods of its own entity, and those of the cell parts that it sees
//
// An id tells which BaseApp has the base, so an entity with a base is found from anywhere. One
// without a base is looked for on the app that the mailbox names, or that made it; it is followed for
// as long as the apps that it has left remember it. Methods that are not exposed are for scripts
// alone: no client can call them, whatever mailbox it makes up.
//
// A service has a fragment on each BaseApp that has its script. The calls of one part go to the same
// fragment, in their order, as long as that is there and shows life. When it has not acknowledged a
// call for half a second, because its process stands still, is cut off or has died, the next calls of
// all on the caller's app go to other fragments, until it does. A call that was made stays with its
// fragment, which may have handled it: it is answered when that goes on, or fails with ErrNoEntity
// when it is declared dead. So nothing is done twice; only between two fragments a later call may be
// handled before an earlier one.
//
// For two seconds after an app has come to the cluster, as when a world begins, a call to a service of
// which no fragment is known waits for the first news of one. It fails with ErrNoService if there is
// none until then, or if the caller goes to another app meanwhile; without Then it is counted as
// refused.
//
// Each pair of ends is a flow: of the calls from one part to another, each is handled once, in the
// order in which they were made, wherever both ends move; package entity/flow tells how. Calls to a
// cell part and calls to the base of one entity are two flows, and so is what goes by way of another
// part. A part that calls itself is called at once.
//
// # Answers
//
// Mailbox.Then names a callback, and makes the next call a two-way call:
//
//	func (m *Merchant) Pay(amount int32) (int32, error)     <ReturnValues> <left> INT32 </left>
//	err := merchant.Then("OnPaid", 7).Call("pay", 5)
//	func (u *Buyer) OnPaid(r entity.Reply)                  r.Scan(&left), or r.Err
//
// It is answered exactly once, also when either end has moved or was restored. The errors:
//
//	*GameError     the method returned an error; Code and Text are the game's
//	ErrNoEntity    the entity has ended, its BaseApp has died, or nobody knows where it is; told at
//	               once, but for an entity without a base that is nowhere, after 15 seconds
//	ErrNoPart      the entity has no such part now
//	ErrNoMethod    its type has no script there, or not this method; or it is of another type than
//	               the mailbox says
//	ErrRefused     the script of a part of which there is no copy panicked, or that of another part
//	               three times over this call; or its results do not fit the definition
//	ErrTimeout     none of these came in time: see Mailbox.Within
//
// A method that destroys its own entity has handled the call, and its result comes. After ErrTimeout, and
// after ErrNoEntity where an app has died, the call may have been handled all the same. An error that Call
// itself returns means that nothing was sent and nobody answers; ErrFull is one. A part whose script
// panics is restored from its copy, and handles the call again, twice at most. The base has the copy of
// a cell part, and other BaseApps that of a base: of a lone BaseApp's there is none. A method that has
// results may be called without Then, and they are dropped.
//
// A method may answer later: it takes a token by Later (Base.Later, space.Real.Later), and what it
// returns does not count then, unless it is an error. Any callback of the same script answers by Answer
// or Fail. A guild that asks its leader who may join:
//
//	func (g *Guild) Join(name string) (rank int32, err error) {
//		token, err := g.Later()
//		if err != nil {
//			return 0, err
//		}
//		return 0, g.leader().Then("OnVote", int64(token)).Call("vote", name)
//	}
//
//	func (g *Guild) OnVote(r entity.Reply) {
//		token, yes := entity.AnswerToken(r.User), false
//		if err := r.Scan(&yes); err != nil || !yes {
//			g.fault(g.Fail(token, &entity.GameError{Code: notWanted}))
//			return
//		}
//		g.fault(g.Answer(token, int32(1))) // or, checked by the compiler: world.GuildBaseAnswers{g}.AnswerJoin(token, 1)
//	}
//
// A part keeps up to limits.OwedAnswers calls so. They travel with it, are in its backups and copies, and
// keep their tokens; a part that is restored and handles a call again gives it the token that it had.
// Each is answered once: by the script, by an error that the method itself returns, by ErrNoEntity when
// the part ends, or by the caller's time-out, which ends the kept call, too. Answer returns ErrAnswered
// then. What a part had answered since its backup, a restored one may answer again, and otherwise, as it
// decides by what it was in the backup; the caller takes the first. So whoever answers by what it has, as a
// seller does, backs that up before it answers, a refusal, too: Later, Backup, and Answer when that is done.
//
// # Scripts
//
// A game writes a Go type for each part of an entity type: one for the cell part that embeds
// *space.Real, one for its ghosts (*space.Ghost), one for the base (*Base), and for a client one
// for what it sees (*client.Replica). What several types have in common may be a struct that
// embeds the part, has fields and methods, and is itself embedded. They are registered, bound and
// called alike:
//
//	space.Register[T](scripts, "Avatar")         made by NewScripts of the schema; each takes a
//	space.RegisterGhost[T](scripts, "Avatar")    constructor for T besides; faults are kept for
//	baseapp.Register[T](scripts, "Avatar")       Scripts.Err, all with their remedies
//	client.Register[T](scripts, "Avatar")
//	client.RegisterPlayer[T](scripts, "Avatar")
//
//	Health property.Int32                        a property; what is not is tagged `cellscape:"local"`
//	func (t *T) Say(text string)                 answers method say of the definition
//	func (t *T) OnCreated()                      a hook: the library calls it
//	func (t *T) OnSetHealth(c *property.Change)  a setter: called after each change from elsewhere
//	func (t *T) OnRested(c Callback)             a callback: called by the name that the script gave
//
//	id, err := t.AddTimer(after, every, "OnRested", user); t.Cancel(id)
//	err := t.CreateSpace(info, "OnRoom", user)   a request; OnRoom is told once how it ended
//	err := t.Base().Call("pay", 5)               and Cell, Client, OwnClient ...: a Mailbox
//
// Not all kinds have all of that:
//
//	                           cell part   ghost       base        client
//	properties                 it sets     it reads    it sets     it reads
//	methods of the definition  cell        -           base        client
//	hooks                      yes         -           yes         what comes, moves, goes, is forced
//	setters                    -           yes         -           yes
//	timers, requests, Backup   yes         -           yes         -
//	walks, controllers         yes         -           -           -
//	mailboxes, calls           to anybody  -           to anybody  Cell and Base, without Then
//
// A request is anything that is asked for now and answered later. It takes the name of a callback
// and a number, user. The callback is called once, with an argument of a type of its own, such as
// SpaceReply: User in it is that number, and Err says why it failed, nil if it did not. Match Err
// with errors.Is and errors.As. An error that the request itself returns means that nothing was
// asked for, and the callback is not called. The ends of a Download and of GiveClientTo name what
// was given instead of a number.
//
// Callbacks are given by name, since names travel and functions do not. A method that looks like a
// hook or callback but is not one is refused at start-up.
//
// # When a CellApp dies
//
// A call to a cell part with a base affects the state of that cell part exactly once. This holds
// for calls from bases, its own client and the client of another entity, even when the CellApp
// of the target dies, or that of the caller, or both. It holds for calls from the cell parts of other
// entities that a message of their base has caused: a call of the base or of the own client. A
// restored caller handles that message again and makes the same calls, and the target, be it a cell
// part or a base, knows them by their cause and turn (flow.ServerCall). It also holds for every other
// call that is in a backup of the caller: the restored caller sends it again, and the target knows it
// by its number. What a cell part has called by itself since its backup, for example in a timer's
// callback, a restored one may call again, or not. A call may instead be refused because the
// target is not in sight or has ended; the caller is then told, by space.CallRefuser or in the
// Reply. A call in whose method the target ended has been handled: it is not refused, and the cell
// part that the base may make next does not handle it again. That the target has ended is what its
// base says. Its cell part lives on until its CellApp has heard so, and may handle a later call of the
// same caller. Three cases are not covered: calls that a cell
// part left behind when it was destroyed, if its CellApp dies before they are settled, or if the base
// makes another cell part that is heard first; what goes by way of a cell part to its base or its
// client, or by way of a base to its client, which that part hands on again when it is restored; and calls
// of a service that a restored cell part makes again, if the fragment that had them is gone or shows no life
// then, since another one does not know them.
//
// A restored cell part repeats what it did after its backup. So effects outside its own state and
// its calls to other entities may happen twice: calls to its base and to clients, spawned entities
// without a base, data of the space. The two-way calls of its backup that have no answer yet wait
// on. One that it makes again is answered by the answer to the first, which is not taken before the
// call is made. Nothing that it told its base and its own client before the backup is lost. A copy
// that was frozen for a handoff may have sent messages that nobody acknowledged. The cell part
// restored from it sends them first; if that dies before its own backup, the next one sends them
// again, from where the base last heard the frozen copy. What a cell part did by itself after the
// backup, for example by a timer, the restored one may do differently. A base recognises a repeat
// by the number of its Call; see Base.Call.
//
// An entity without a base dies with its CellApp, and so does everything that was sent to it.
//
// # When a base goes back to a copy
//
// A base whose BaseApp dies, or whose script panics, goes on from its newest copy, in another life. What
// others have sent it since then comes again. What it did since then is undone where it is its own state.
// What it has said since then has left, and is not taken back: its cell part, or another entity, may have
// handled all of it, some or nothing. So a cell part may know of more than its base does. The next life may
// say the same, something else or nothing. That is handled as something new, once and in order, behind all
// that was handled of the former life. What the copy keeps of what was said before is not handled again.
// Who must not say a thing twice, or must know that it was said, has it in a copy first: see Base.Backup.
//
// # Concurrency
//
// Nothing here locks. Each value belongs to the one app that owns it.
package entity
