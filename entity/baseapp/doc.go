// Package baseapp is the process that holds the base parts of entities. For players these are
// proxies, to which a client talks as long as it plays, wherever its entity's cell part goes.
//
//	LoginApp ──▶ BaseAppMgr ──MakeProxy──▶ ┌─────────┐ ◀──CellAppMgr (Welcome, Located, AppDead, AppLeft)
//	                                       │ BaseApp │
//	client ◀────protocol bundles─────────▶ │  bases  │ ◀──flows, Current, Offer──▶ CellApps
//	                                       └─────────┘
//
// # What a base does
//
// A base runs the script of the base part and holds its properties. It alone decides over the life
// of its cell part; cellLink draws that state machine. It keeps the freshest copy of the cell part,
// and every message to it that the copy does not contain. When a CellApp dies, the base has the
// real made again on another, under a new incarnation, and replays those messages. It refuses what
// older incarnations still send.
//
// A proxy relays the reliable bundles of the cell part to the client, each as one message, and
// sends its own messages apart from them. Before the first bundle of a new incarnation it tells the
// client to forget the old one (Reset). It drops bundles that were made for another client session.
//
// A client has a seat at its proxy, which outlives its channel; seat draws that state machine. When the
// channel is lost, the seat is kept for Config.ResumeTime: what the client is told waits in a tail, the
// cell part tells it less, and scripts notice nothing. The client comes back by a token over another
// channel and is sent what it lacks. Package protocol says what both sides count.
//
// An account that has a proxy may log in again. Config.Relogin and OnLogOnAttempt say what becomes of that;
// relogin draws it.
//
// A proxy may give its client, and the account with it, to another base on any BaseApp; give draws that, and says
// which of two bases that claim an account has it.
//
// For scripts a base asks the CellAppMgr to create and destroy spaces, and repeats the request
// until it is answered. The method that the script named is told the new id. A cell part whose
// space has ended is not made again.
//
// Each time the app joins the BaseAppMgr it lists the accounts that have a proxy here, since a
// restarted manager knows of none.
//
// # Channels
//
// The port is open to everyone. What a peer may say depends on who it is, and Mercury proves its
// address with the salt of its start. A manager is a peer that this app has joined. A CellApp is a
// peer that the CellAppMgr has named (wire.Members). The list outlives the manager, since the next
// manager knows apps only when they come back. AppDead takes the dead ones off; AppLeft, about a
// CellApp that has retired, answers a base that has long heard nothing of a real it believes there.
//
// Only those CellApps speak for an entity that hold it, held it lately, or have been told to make
// it. The base asks any other one (migrate.Probe), since its message that it has the real may have
// been lost.
//
// A named BaseApp speaks for the bases whose ids it has issued (app.Roster.Home), and for no other. A
// base sends to a cell part of another entity by way of that one's base, which passes it on; so a
// CellApp takes what bases say to an entity from the app of its base alone. A base has a flow with
// each part that it talks to (talk.go): of ten thousand that are at rest a tick looks at none.
//
// Anyone else may send protocol.AttachID or protocol.ResumeID first. That makes the channel a client's, and
// from then on it speaks the client protocol and nothing else. A peer that sends messages of a CellApp waits at
// the door for a while, within bounds, because a new CellApp's first message may overtake the
// manager's message that names it. After that its channel is ended. A sound CellApp that is turned
// away like this finds its channel broken, and says again what was lost. Any other first message
// ends the channel.
//
// With cluster keys the CellAppMgr names only apps that have proved their membership. Without keys,
// whoever reaches its port and knows the definitions can join.
//
// # Copies on other BaseApps
//
// Each base has copies on other BaseApps, its holders (package migrate says which they are). It is
// backed up at the end of the tick in which it was made, then once in each Config.BackupPeriod, those
// whose copies are oldest first, a like number in each tick; and sooner if it asks. One copy of a base is
// under way at a time. A copy has a number; when all holders have it, it is confirmed.
//
// The ruling list is the one that a death would be healed by. When BaseApps come or go another one is
// made:
//
//	             members differ            all bases have copies by both
//	settled R ------------------> pending P -----------------------------> announced P
//	   ^                            |   ^                                      |
//	   |                            +---+ members differ again:                |
//	   |                                  another P, from the start            |
//	   +------ the CellAppMgr and all BaseApps know P: it rules, ---------------+
//	           and the holders by R alone are told to forget
//
// Until P rules, copies are sent to the holders by both lists. Changes of the members that come while P
// is announced wait until it rules. So at each moment this holds: the newest confirmed copy of each
// base, or a newer one, is at all its living holders by the ruling list, and it does not matter which of
// both lists a manager knows while one is announced. A base that has grown too large to travel is left
// out of P; the log names it.
//
// A copy carries the number of the cycle in which it was sent; in a cycle each base is backed up once.
// At its end the holders are told the oldest cycle that a base has its newest copy of, and forget what
// is older. After a broken channel a new cycle begins.
//
// A holder keeps copies by owner and id, within MaxCopies and MaxCopyBytes. The sender of a copy is its
// owner, so a lie spoils only what is the liar's. When the owner is declared dead, the holder restores the
// bases whose heir it is. It keeps the copies of which it is the next holder until the heir's ruling list
// covers them, and drops the others. Until then the heir's own death would be healed from these copies, so
// no copy that the heir makes is confirmed. The next holder begins a later life than the heir did.
//
// A base that nobody has room for counts as unprotected after RefusedPatience, as one that is too large does at
// once: nothing waits for its copies any more, until one is taken. The status counts such bases. So it is with
// a base whose script wants no copies (entity.Base.SetAutoBackup, auto.go); an app that leaves copies it all the
// same, or it would not come along.
//
// An app that is alone has nobody to hold copies. It says so once, counts its bases as unprotected, and
// counts every base as confirmed, so that nothing waits for ever. With a Config.BackupPeriod below 0 nobody
// holds copies at all.
//
// # The end of a base
//
// A base that has ended can come back from a copy, if its app dies before the holders of its copies know. So it
// leaves a stub, which has its names and its account:
//
//	         ends     BaseGone to the holders     BaseForgotten of all but the first,       names and account
//	(lives) ------> stub ----------------------> then BaseGone to that one, BaseForgotten ----> are free
//	   |             |  |                                                                         ^
//	   |             |  +--- forgetPatience: logged ----------------------------------------------+
//	   |             +------ the app dies: it goes on at its heir, if that has the copy           |
//	   +------------- nobody has been sent a copy ------------------------------------------------+
//
// Invariants:
//
//   - A name or an account of a base that has ended is free only when nobody can bring the base back: no holder has
//     a copy, and the ruling list covers the departure by which the base came here. The exceptions are a holder that
//     lives and does not answer for forgetPatience, and more than maxStubs bases that end at once.
//   - The heir's copy is the last that is forgotten. So if the heir does not bring the base back, nobody does later.
//   - A stub stays where it is: neither does the app leave, nor do bases of its slice move, before it is gone.
//   - A login to the account waits for the end of the stub, as for that of the base.
//   - Who calls the base hears that it has ended when the stub is gone: if the heir brings it back, the calls come again.
//
// # The death of a BaseApp
//
// The verdict carries the rule by which the bases of the dead app were held, so every app knows where each
// of them goes on. Nobody can be told before its heir has it: what comes too early comes again. The heir
// begins the next life of each base from its copy:
//
//	properties, timers, two-way calls, names   as in the copy
//	what others sent since                     comes again, since it was not settled
//	what others called of its client since     comes again, too: the client may hear it twice, and misses nothing
//	what the base did of itself since          is undone, and may be done again: see entity.Base.Backup
//	what it had asked managers for             is answered as forgotten
//	the cell part                              lives on, and shows itself by its title; else it is made
//	                                           again from the copy that the base's copy has
//	the client                                 comes to the heir's doors by itself, with its token, and is told
//	                                           all properties of the base before anything of its next life
//	account and names                          stay taken until the heir says whether it has them
//
// A base of which no copy was confirmed is lost, with its cell part and its client's session.
//
// A cell part that is made again does not say again what its base has handled of the former one. So that is in a
// confirmed copy of the base first (heard.go): a CellApp and a BaseApp may die one after the other.
//
// # Leaving
//
// A BaseApp that retires leaves as if it died, at a moment when nothing is lost by that: all its bases stand
// still, and their last copies are confirmed. So its bases are found, restored and readdressed as above, and
// nothing else has to know of moves.
//
//	            Retire                  all is ready            all last copies held
//	(serves) ------------> leaving -------------------> still ------------------------> asking
//	                        |  ^                          |       Depart to the manager   |
//	                        |  +--- a death, stillMost ---+                               |
//	  Leaving, each second: |  +--- Departed with a reason: not now ----------------------+
//	  nothing new is made   |                                                             |
//	  here, no copies held  v                             Departed, or Dismissed; AppDead to all
//	                  logs what it waits for                                              |
//	                                               clients: Switch, to the heirs          v
//	                                               the process ends                      gone
//
// All is ready when a rule without those who leave rules, with two holders for each base if there are two;
// when no other app has copies here; when no login waits for its client; and when no question to a manager and
// no message of a destroyed base is open, or quietTime is over.
//
// Invariants:
//
//   - While bases stand still, nothing changes them: no tick, no message of an app or a client is handled. Who
//     sent it says it again, to this app or to the heir. Copies held for others go on.
//   - Bases go on here only as long as the manager has not been asked, or when it has said no. A verdict that
//     comes meanwhile is acted upon then. A manager that dies while it is asked leaves them standing until another
//     one answers, since it may have told the heirs; it is asked as soon as it leads. While none is known to live,
//     none is asked, and the bases go on here.
//   - The manager says no if a holder is gone, or if another app departed whose bases the rule does not cover.
//     So each base has a living heir with its last copy at the moment of the verdict.
//   - What an inherited base does is settled, for its clients and for others, when the rule of its app covers
//     the departure. If the heir dies before, the next holder goes on from the last copy.
//   - A client counts what it has had and said as after a lost channel, so each message comes once and in
//     order. If the bases go on here, a client that was not heard meanwhile has its channel ended, and resumes.
//
// Downloads end before, and scripts are told (entity.DownloadEnd). Clients whose sessions
// do not outlive their channels (Config.ResumeTime) lose them.
//
// An app with more than Config.MoveBatch bases gives them away in parts first, until no more than that are left.
//
// # Moving
//
// A part of the bases can go to others while the rest goes on here: when the app leaves, and when the BaseAppMgr
// orders it to shed some (Shed). A part is all bases of some slices of the ids (migrate.Part), and of a shedding
// only those whose first holder is the app that is to have them. For this part it is as if the app had died:
//
//	              all of some slices may go       all last copies held          Departed
//	(none) ----------------------------> still ----------------------> asking ------------> told
//	  ^    out of the app, in its own      |     Depart to the manager   |  BasesMoved        |
//	  |    keeping; last copies to holders |                             |  to all            |
//	  |                                    v                             v                    |
//	  |<------ in another life ------ stillMost, a holder without room, the manager says no   |
//	  |<------------------ all other BaseApps say that they know of the move -----------------+
//
// Invariants:
//
//   - A base of the part is nowhere while the part is still or asked about: not in the app, and no heir has begun.
//     What comes for it is left to be said again, here or to its heir.
//   - The last copies are kept here as well, until the rule of who has the base now covers the move. If that app
//     dies before, the next holder goes on and, after the last of them, this app (migrate.Departures).
//   - While a part moves, and until all others know of it, no other rule is begun here and no mark is sent. So
//     nobody forgets a last copy before he knows that it is one.
//   - One part moves at a time. It goes on as a part even if the app is to leave meanwhile.
//   - A base goes back into the app only from its last copy, with a life more than that has: nothing that it said
//     before is taken for something new. The number of its copies rises on.
//   - Perhaps no holder has that last copy. So what the base has handled, its commits and what its client has said count
//     as settled no sooner than a copy of the next life is confirmed. It is so with a base that is restored at an heir.
//
// Bases that wait for answers of a manager or of the store keep their slices here for movePatience; one that a
// player has logged in to, and has not come for, as long as its token is good; one whose client is away until that
// is back or given up, unless the app is to leave. A client is sent after its base as
// by a leaving app. A login meanwhile is told that the server is busy.
//
// # The store
//
// If the cluster has one, a base of a type that is Persistent can have a row there (package store), which is
// checked out as long as it lives. keeping draws that state machine. It is written when its script says Write,
// once in Config.ArchivePeriod, and when it ends, with the newest copy of its cell part; the last write gives the
// row back, and is repeated until the store has it. A login loads what the player plays: by the key that the Auth
// has said, or else by the account, if the type of players has an identifier. A base that is restored takes the
// check-out over from the app that died, before anything else is written. One whose row is somebody else's ends
// without a write, so nobody lives twice. A base that ends stays, and its copies do, until the store has its last
// write; a script is told of a write when the holders of copies have what was written. So a death undoes nothing
// that the store has confirmed.
//
// Bases of Config.BringBack are marked in the store as long as they live, and come back when the cluster
// starts (bring.go). The steps in which a world is stopped are in stop.go.
//
// # Contract
//
//   - A [BaseApp] is a state machine without goroutine, socket or clock. One goroutine owns it and
//     all scripts in it.
//   - Bases are always visited in order of their ids.
//   - No base believes for ever in a real that nobody has. An app that lost it says so until it is
//     answered. The manager announces CellApps that died, and tells a base that hears nothing, and
//     asks, of those that left.
//   - Scripts' timers run on game time, which stands still while the world is frozen.
//   - A script's panic is contained: it is logged with its stack and counted, its base is
//     destroyed, and its client is dropped. No other base notices.
//   - Nothing that a client sends can do more than lose that client its session.
//   - A client that comes back in time has lost nothing and hears nothing twice, and neither does its
//     entity. Its messages are counted once handled.
//
// # The caller's duties
//
// Register all scripts before [New], which reports every fault of the configuration and of the
// scripts at once. Deliver the transport's callbacks, and call Tick when it is due. When
// [BaseApp.Dismissed] is true, replace the app by a new one under another salt. When [BaseApp.Retired] is
// true, end the process.
//
// Sources: seed S4 (base and proxy, backup, restore); package entity/flow for the flows.
package baseapp
