// Package migrate moves a real from one CellApp to another, and brings it back from its base after
// its CellApp died. It knows what travels only as named parts that append and read themselves.
//
// # The handoff machine
//
//	origin                                 destination
//	real
//	  | prepare: order h -> h+1
//	  | freeze a copy of all parts
//	  | become a ghost of the new real
//	  +------- Onload(h+1, parts) -------->  newer order known?  yes: ack, drop
//	frozen                                   no: become the real at h+1
//	  |                                      +--- Current(h+1) ---> base
//	  |<------ OnloadAck(h+1) ---------------+--- State(h+1) -----> haunts
//	  v
//	dropped
//
//	destination dies while frozen:
//	  +------- Offer(h+1, parts) -----------------------------------> base
//
// Only the base decides what lives: it compares the offer with its own backup, takes the fresher
// one and starts a new incarnation, unless it hears of a real at a newer hop. So however the
// messages of a dying CellApp interleave, at most one real is acknowledged (promise 1 of the
// design); whoever holds another one is told so by Refuse, and drops it.
//
// # Teleports
//
// A teleport is a handoff that the destination may refuse: to another space, or far away in the same
// one, where nobody has a ghost of the real. The Onload says so (Arrival), with the place or with the
// entity to go near to.
//
//	origin                                 destination
//	real (h)
//	  | as above; parts and Offer say where it was
//	  +------- Onload(h+1, Arrival) ------>  takes it: real at h+1, at the new place
//	frozen, a ghost for who stands by        <- OnloadAck(h+1, Elsewhere)
//	  |                                      or says no: remembers h+1
//	  |<------ OnloadRefused(h+1) ---------+
//	  |
//	  +- acked, in another space: its ghosts there end; in the same: they are those of the new real
//	  +- refused: real again at h+2 from the copy, all haunts get its State
//	  +- destination dies: Offer, as above; the base restores it where it was
//
// h+1 is used up by the refusal, since it may have been spoken of. The destination turns down every
// repeat of an Onload that it has refused, also when it would take the real by now: the origin has
// made it again. It decides before it makes anything, so a refusal leaves nothing behind there. While
// the real is away nobody handles what is sent to it; it is sent again. Until it is taken, a backup
// or an Offer says that the teleport has not ended. A real that is restored from one is where it was,
// and its script is told that the teleport has failed.
//
// # Titles
//
// Whoever says to a base that it has the real, had it or lost it at a newer hop shows the Title that
// the base gave to the first app of this incarnation, and that each Onload passes on. An app that was
// never given the entity does not know it. Orders alone could be guessed.
//
// All messages of one handoff leave in one channel in order, so a ghost update never overtakes the
// handoff that it follows.
//
// # Copies of bases
//
// A base has copies on other BaseApps, its holders. By which rule they are chosen out of a list is told
// by Rule. The package of the BaseApps (entity/baseapp) says how copies get there.
//
// When a BaseApp is declared dead, the manager tells everyone its ruling list with the verdict, and a
// number that is higher than that of any departure before. From that alone each process finds where a
// base is now (Departures.Heir), and all find the same place:
//
//	the app that issued its id ---- lives -------------------------------> it is there
//	  | has departed as n, with a rule
//	  v
//	the first holder by that rule which lives, or ------ lives ----------> it is there
//	which departed later than n and covered n
//	  | has departed as m > n, with a rule that covers n
//	  v
//	the first holder by that rule ...                    nobody ----------> it is gone
//
// A rule covers a departure once all bases that came from it have copies by the rule. A holder that
// departs before it has covered what came to it counts as if it had never had it, and the next holder
// in rank, which has kept its copies until then, takes the bases over. So with one replica a base
// outlives one death in the time of a backup period, with two replicas two.
//
// Each step leads to a higher number of departure, so the search ends; MaxChain bounds it in any case.
//
// A part of an app's bases can depart as well, while the app goes on (Part). In the search it is a
// departure like any other, of those bases that it takes: of some slices of the ids, which are a
// hash, and none that the app issued later. It concerns only bases that came to the app with a
// lower number. The app itself is the last in the list of holders, since it keeps the last copies
// until the departure is covered. A base may come back to an app, so it is not enough to know that
// a part took it: the search says where it is.
//
// # What a broken channel takes
//
// A channel that breaks takes along what was sent last, while both of its processes may live on: no
// verdict follows that would repair it. So nothing between a base, a cell and their managers is
// said once and then believed. For each message something repairs its loss, and a scenario in
// internal/sim (TestBreaks) breaks channels exactly at it:
//
//	message              what repairs its loss                          in what time
//	Create               the base asks (Probe), and makes another one   3 s (CreateTimeout)
//	Current              said again when a channel broke, and with      a tick; a backup
//	                     each backup; the base asks (Probe)
//	Refuse               answers a message that is repeated; a real     2 s; a backup
//	                     that it is about says again where it is
//	Onload               sent again until it is acked                   a tick; 2 s
//	OnloadAck,           answer the Onload, which is sent again         2 s
//	OnloadRefused
//	Offer, Lost          repeated until the base answers with a         a tick; 2 s
//	                     Refuse, by the CellApp, whatever cells it has
//	Mourned              the base waits without it (offerGrace)         500 ms
//	LeaseAsk, LeaseVote  asked again by who leads or stands             200 ms
//	Members to a manager told again when it changes or the manager      1 s; 10 s
//	                     dials; else apps find the next one alone
//	Look, Seen           an opinion less; the next inquiry, or silence  3 s (AppTimeout)
//	Probe                asked again while the base hears nothing       5 s
//	AppSilent, AppLeft   the base asks again                            5 s
//	flows (calls, Gone,  resent by their timers until acked             see flow.Sender
//	answers, Backup, …),
//	acks
//	ghost State, Update  a Roll, at once when a channel broke and       a tick; a round of
//	                     slowly all the time, names what was missed     the cell's reals
//	ghost Delete         the ghost asks when it hears nothing           10 s (GhostLease)
//	ghost Query, Roll    the next one
//	RemovalAck, AddCell, the manager repeats its orders until it        1 s
//	RemoveCell, …        hears that they were carried out
//	Geometry             asked for when a version is missing            200 ms
//	Located, Locate      the base asks again, or the teleport           1 s (LocateRetry)
//	LocateArea,          asked again while anybody is near the gateway  1 s (LocateAreaRetry)
//	LocatedArea
//	Whereis, Whereabouts the teleport asks again                        1 s
//	CreateSpace,         asked again until they are answered            1 s
//	DestroySpace
//	SpaceCopy, SpaceData the manager tells a BaseApp anew what it is    the next Welcome
//	to a BaseApp         to keep, and then that all else is gone
//	SetSpaceData,        said again to the same manager or the next     the next Welcome
//	SpaceDataSet         one, until it is answered; what comes late
//	                     yields to what others have set since. A base's
//	                     does not yield: it knows no data
//	MakeProxy, Relogin,  the login ends in a timeout, and is tried      the client's next
//	ProxyMade            again; who has a proxy is told at each join,   try
//	                     and who is loaded after it when that is done
//	Outdone              the base that has the account says so to the   the next Join
//	                     other by their flow; said again at each join
//	PlaceBase,           asked again until they are answered; who has   1 s
//	CreateBase, MakeBase, made the base remembers that for a minute
//	BaseMade
//	RegisterName,        asked again until they are answered            1 s
//	FindName, NameHeld
//	CallStore,           asked again until they are answered            1 s
//	StoreAnswer
//	NameGone, Names,     told at each join, and so is who has lost a    the next Join
//	NameLost             name
//	BaseCopy,            the base is backed up again: at once when a     a tick; a backup
//	BaseCopyHeld         channel broke, and in any case in its turn      period
//	BaseGone,            told again until it is answered: at once when   a tick; 3 s
//	BaseForgotten        a channel broke, and in any case after a while
//	CopyMark             the mark of the cycle that begins then          a backup period
//	BackupRule,          told again until it is answered                 1 s
//	BackupRuleHeld
//	Leaving              told again while the app is to leave            1 s
//	BasesMoved           told again to who comes back, as verdicts are;  the next Join; 1 s
//	                     the app that gave the bases away tells its
//	                     rule again until all say that they know
//	Shed                 ordered again while it is still uneven          3 s
//	Inherited            told again with all others at each join         the next Join
//	Depart, Departed     asked again until it is answered, or until the  1 s
//	                     app is dismissed, since it has left
//	Stop, StopState      told again until it is answered in that wave    1 s
//	KeepSpace, SpaceKept told again until it is answered                 1 s
//	KeepOnly, OnlyKept   the same, with all spaces that live then        5 s
//	BringSpace,          asked again until they are answered             1 s
//	SpaceBrought
//	BringBack,           asked again, of any BaseApp; what lives         15 s, or at once when
//	BroughtBack          already counts as done                          the channel broke
//	EndWorld             the operator's observer gives it again until     50 ms
//	                     it is told how far the stop is (WorldEnding)
//	WorldEnding to a     told again over the next channel, and not       the next channel;
//	manager              waited for longer than savedMost                2 s
//	moves, ClientPacket  unreliable: the next one
//
// "A tick" applies where the sender sees that its channel has ended, and says again over the next
// one what it believes the other side should know. The longer times apply to what is lost in spite
// of that.
//
// A Probe is the second line of defence. A base that has not heard of its real for long asks the
// CellApp on which it believes the real to be. That CellApp passes the question on if it handed the
// real on, and says Lost if it knows nothing of it, so no base believes for ever in a real which
// nobody has. The CellApp remembers for 30 s to whom it handed a real. A base that could not hear
// the new app for longer than that restores the entity from its backup, and refuses the real that
// went on.
//
// If that CellApp has retired in the meantime, it answers nothing, and no verdict concerns it. So a
// base that has heard nothing for 30 s asks the CellAppMgr, too (AppSilent). The manager answers
// for a CellApp that is not a member (AppLeft); it need not remember anybody for that, and tells
// nothing to those who do not ask. The base then takes its real for lost, and restores it after the
// grace, unless the real shows itself at a newer hop. But the CellApp is not buried: its last
// messages are still heard.
package migrate
