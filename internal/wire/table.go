package wire

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// Message ids. A new one goes to the end of its receiver's last block:
// blocks have sixteen ids, and some receivers have filled theirs.
const (
	// To any process from a manager.
	WelcomeID ID = 1 + iota
	RefusedID
	AppDeadID
	FreezeID
	DismissedID
	SpaceDestroyedID
	MembersID
)

// To a CellAppMgr.
const (
	JoinID ID = 16 + iota
	ReportID
	CellsReportID
	CellCreatedID
	LocateID
	SetSpaceDataID
	GeometryLackedID
	CellRemovedID
	RetireAppID
	CreateSpaceID
	DestroySpaceID
	RejoinID
	RejoinCellID
	RejoinEndID
	AppSilentID
	SeenID
)

// To a CellApp.
const (
	AddCellID ID = 32 + iota
	GeometryID
	SpaceDataID
	GhostStateID
	GhostUpdateID
	GhostDeleteID
	GhostAuditID
	OnloadID
	OnloadAckID
	CreateID
	RefuseRealID
	ClientMoveID
	GhostQueryID
	RemoveCellID
	CellGoingID
	RemovalAckID
	RetiredID
	SpaceRateID
	GhostRollID
	ProbeID
	SpaceDataSetID
	GhostWatchedID
	OnloadRefusedID
	WhereaboutsID
	OnloadPartyID
	SteerID
	LookID
	OnwardID
)

// To the end of a flow, on a CellApp or a BaseApp.
const (
	FlowID ID = 64 + iota
	FlowAckID
	FlowInquiryID
	FlowRemainderID
)

// To a BaseApp; Located also to a CellApp.
const (
	LocatedID ID = 80 + iota
	CurrentID
	ClientPacketID
	OfferID
	CellLostID
	MakeProxyID
	SpaceCreatedID
	AppLeftID
	MakeBaseID
	BasePlacedID
	NameHeldID
	WhereisID
	MournedID
	ReloginID
	OutdoneID
	NameLostID
)

// To a BaseAppMgr; BaseMade also to the BaseApp that asked.
const (
	CreateProxyID ID = 96 + iota
	ProxyGoneID
	ProxiesID
	PlaceBaseID
	CreateBaseID
	BaseMadeID
	RegisterNameID
	FindNameID
	NameGoneID
	NamesID
	BaseLoadID
)

// To a LoginApp; ProxyMade also to a BaseAppMgr, on the way there.
const (
	ProxyMadeID ID = 112 + iota
	LoginsID
)

// To an Observer.
const StatusID ID = 128

// To and from a DBApp.
const (
	CallStoreID ID = 160 + iota
	StoreAnswerID
)

// About the copies of bases, to the BaseApps that hold them and to those that have the bases;
// BackupRule, RejoinRule, Depart and SpaceCopy to the CellAppMgr, BasesMoved from it, Inherited and
// Leaving to the BaseAppMgr.
const (
	BaseCopyID ID = 144 + iota
	BaseCopyHeldID
	BaseGoneID
	CopyMarkID
	BackupRuleID
	BackupRuleHeldID
	RejoinRuleID
	InheritedID
	BaseDoorsID
	LeavingID
	DepartID
	DepartedID
	SpaceCopyID
	BasesMovedID
	ShedID
	BaseForgottenID
)

// Between the managers of a cluster.
const (
	LeaseAskID ID = 168 + iota
	LeaseVoteID
)

// To a CellAppMgr, whose block is full, about gateways, and the answer.
const (
	LocateAreaID ID = 176 + iota
	LocatedAreaID
)

// About the controlled stop of a world, and what the store keeps for its next start.
const (
	EndWorldID ID = 178 + iota
	WorldEndingID
	StopID
	StopStateID
	KeepSpaceID
	SpaceKeptID
	BringSpaceID
	SpaceBroughtID
	BringBackID
	BroughtBackID
	KeepOnlyID
	OnlyKeptID
)

// To a CellAppMgr, whose first block is full; SharedData also from it.
const (
	AliveID ID = 190 + iota
	SharedDataID
)

// About what processes show and let be set.
const (
	ReadWatchID ID = 192 + iota
	SetWatchID
	WatchedID
)

// table says of every message what it is, who sends it, who takes it, and what its sender must have
// proved, if that is more than its role. It is never changed after it was made.
var table = newTable(
	// Of managers.
	row[Welcome](WelcomeID, CellAppMgr.to(CellApp, BaseAppMgr, BaseApp, LoginApp, DBApp, Observer), BaseAppMgr.to(BaseApp, LoginApp), DBApp.to(BaseApp)),
	row[Refused](RefusedID, CellAppMgr.to(CellApp, BaseAppMgr, BaseApp, LoginApp, DBApp, Observer, CellAppMgr), BaseAppMgr.to(BaseApp, LoginApp), DBApp.to(BaseApp)),
	row[Dismissed](DismissedID, CellAppMgr.to(CellApp, BaseAppMgr, BaseApp, LoginApp, DBApp, Observer), BaseAppMgr.to(BaseApp)),
	row[AppDead](AppDeadID, CellAppMgr.to(CellApp, BaseAppMgr, BaseApp, DBApp)),
	row[Freeze](FreezeID, Observer.to(CellAppMgr).proving(mercury.Operator), CellAppMgr.to(CellApp, BaseApp)),
	row[Members](MembersID, CellAppMgr.to(CellApp, BaseApp, BaseAppMgr, DBApp, CellAppMgr)),
	row[SpaceDestroyed](SpaceDestroyedID, CellAppMgr.to(CellApp, BaseApp)),

	// To managers of any app.
	row[Join](JoinID, CellApp.to(CellAppMgr), BaseAppMgr.to(CellAppMgr), Observer.to(CellAppMgr),
		BaseApp.to(CellAppMgr, BaseAppMgr, DBApp), LoginApp.to(CellAppMgr, BaseAppMgr), DBApp.to(CellAppMgr)),
	row[Report](ReportID, CellApp.to(CellAppMgr), BaseAppMgr.to(CellAppMgr), BaseApp.to(CellAppMgr), LoginApp.to(CellAppMgr), DBApp.to(CellAppMgr)),
	row[Rejoin](RejoinID, CellApp.to(CellAppMgr), BaseAppMgr.to(CellAppMgr), BaseApp.to(CellAppMgr), LoginApp.to(CellAppMgr), DBApp.to(CellAppMgr)),
	row[RejoinCell](RejoinCellID, CellApp.to(CellAppMgr)),
	row[RejoinEnd](RejoinEndID, CellApp.to(CellAppMgr), BaseAppMgr.to(CellAppMgr), BaseApp.to(CellAppMgr), LoginApp.to(CellAppMgr), DBApp.to(CellAppMgr)),

	// To the CellAppMgr.
	row[CellsReport](CellsReportID, CellApp.to(CellAppMgr)),
	row[CellCreated](CellCreatedID, CellApp.to(CellAppMgr)),
	row[CellRemoved](CellRemovedID, CellApp.to(CellAppMgr)),
	row[GeometryLacked](GeometryLackedID, CellApp.to(CellAppMgr)),
	row[RetireApp](RetireAppID, CellApp.to(CellAppMgr)),
	row[Locate](LocateID, CellApp.to(CellAppMgr), BaseApp.to(CellAppMgr)),
	row[LocateArea](LocateAreaID, CellApp.to(CellAppMgr)),
	row[SetSpaceData](SetSpaceDataID, CellApp.to(CellAppMgr), BaseApp.to(CellAppMgr)),
	row[CreateSpace](CreateSpaceID, BaseApp.to(CellAppMgr)).answered(SpaceCreatedID),
	row[AppSilent](AppSilentID, BaseApp.to(CellAppMgr)),
	row[Alive](AliveID, BaseApp.to(CellAppMgr)),
	row[Seen](SeenID, CellApp.to(CellAppMgr), BaseApp.to(CellAppMgr)),
	row[DestroySpace](DestroySpaceID, CellApp.to(CellAppMgr), BaseApp.to(CellAppMgr)).answered(SpaceDestroyedID),

	// Orders of the CellAppMgr to CellApps.
	row[AddCell](AddCellID, CellAppMgr.to(CellApp)),
	row[RemoveCell](RemoveCellID, CellAppMgr.to(CellApp)),
	row[CellGoing](CellGoingID, CellAppMgr.to(CellApp)),
	row[Retired](RetiredID, CellAppMgr.to(CellApp)),
	row[Geometry](GeometryID, CellAppMgr.to(CellApp)),
	row[SpaceData](SpaceDataID, CellAppMgr.to(CellApp, BaseApp)),
	row[SpaceCopy](SpaceCopyID, CellAppMgr.to(BaseApp), BaseApp.to(CellAppMgr)),
	row[SharedData](SharedDataID, CellAppMgr.to(CellApp, BaseApp), CellApp.to(CellAppMgr), BaseApp.to(CellAppMgr)),
	row[SpaceDataSet](SpaceDataSetID, CellAppMgr.to(CellApp, BaseApp)),
	row[SpaceRate](SpaceRateID, CellAppMgr.to(CellApp)),
	row[Look](LookID, CellAppMgr.to(CellApp, BaseApp)),

	// Between CellApps.
	row[ghost.State](GhostStateID, CellApp.to(CellApp)),
	row[ghost.Update](GhostUpdateID, CellApp.to(CellApp)),
	row[ghost.Delete](GhostDeleteID, CellApp.to(CellApp)),
	row[ghost.Audit](GhostAuditID, CellApp.to(CellApp)),
	row[ghost.Query](GhostQueryID, CellApp.to(CellApp)),
	row[ghost.Roll](GhostRollID, CellApp.to(CellApp)),
	row[ghost.Watched](GhostWatchedID, CellApp.to(CellApp)),
	row[migrate.Onload](OnloadID, CellApp.to(CellApp)),
	row[migrate.OnloadAck](OnloadAckID, CellApp.to(CellApp)),
	row[migrate.OnloadParty](OnloadPartyID, CellApp.to(CellApp)),
	row[migrate.OnloadRefused](OnloadRefusedID, CellApp.to(CellApp)),
	row[Onward](OnwardID, CellApp.to(CellApp)),
	row[Whereis](WhereisID, CellApp.to(BaseApp)),
	row[Whereabouts](WhereaboutsID, BaseApp.to(CellApp)),
	row[RemovalAck](RemovalAckID, CellApp.to(CellApp)),

	// Between cell parts and bases.
	row[flow.Message](FlowID, CellApp.to(CellApp, BaseApp), BaseApp.to(CellApp, BaseApp)),
	row[flow.Ack](FlowAckID, CellApp.to(CellApp, BaseApp), BaseApp.to(CellApp, BaseApp)),
	row[flow.Inquiry](FlowInquiryID, CellApp.to(CellApp, BaseApp), BaseApp.to(CellApp, BaseApp)),
	row[flow.Remainder](FlowRemainderID, CellApp.to(CellApp, BaseApp), BaseApp.to(CellApp, BaseApp)),
	row[ClientMove](ClientMoveID, CellApp.to(CellApp), BaseApp.to(CellApp)),
	row[Steer](SteerID, CellApp.to(CellApp), BaseApp.to(CellApp)),
	row[migrate.Probe](ProbeID, CellApp.to(CellApp), BaseApp.to(CellApp)),
	row[migrate.Create](CreateID, BaseApp.to(CellApp)),
	row[migrate.Refuse](RefuseRealID, BaseApp.to(CellApp)),
	row[migrate.Current](CurrentID, CellApp.to(BaseApp)),
	row[migrate.Offer](OfferID, CellApp.to(BaseApp)),
	row[migrate.Lost](CellLostID, CellApp.to(BaseApp)),
	row[ClientPacket](ClientPacketID, CellApp.to(BaseApp)),
	row[Mourned](MournedID, CellApp.to(BaseApp)),

	// Answers of the CellAppMgr.
	row[Located](LocatedID, CellAppMgr.to(CellApp, BaseApp)),
	row[LocatedArea](LocatedAreaID, CellAppMgr.to(CellApp)),
	row[SpaceCreated](SpaceCreatedID, CellAppMgr.to(BaseApp)),
	row[AppLeft](AppLeftID, CellAppMgr.to(BaseApp)),

	// Logins.
	row[CreateProxy](CreateProxyID, LoginApp.to(BaseAppMgr)).answered(ProxyMadeID),
	row[MakeProxy](MakeProxyID, BaseAppMgr.to(BaseApp)).answered(ProxyMadeID),
	row[Relogin](ReloginID, BaseAppMgr.to(BaseApp)).answered(ProxyMadeID),
	row[ProxyMade](ProxyMadeID, BaseApp.to(BaseAppMgr), BaseAppMgr.to(LoginApp)),
	row[ProxyGone](ProxyGoneID, BaseApp.to(BaseAppMgr)),
	row[Proxies](ProxiesID, BaseApp.to(BaseAppMgr)),
	row[Outdone](OutdoneID, BaseAppMgr.to(BaseApp)),
	row[Logins](LoginsID, CellAppMgr.to(LoginApp)),

	// Bases on other BaseApps, and the names of bases.
	row[BaseLoad](BaseLoadID, BaseApp.to(BaseAppMgr)),
	row[PlaceBase](PlaceBaseID, BaseApp.to(BaseAppMgr)).answered(BasePlacedID),
	row[BasePlaced](BasePlacedID, BaseAppMgr.to(BaseApp)),
	row[CreateBase](CreateBaseID, BaseApp.to(BaseAppMgr)).answered(BaseMadeID),
	row[MakeBase](MakeBaseID, BaseAppMgr.to(BaseApp)).answered(BaseMadeID),
	row[BaseMade](BaseMadeID, BaseApp.to(BaseAppMgr), BaseAppMgr.to(BaseApp)),
	row[RegisterName](RegisterNameID, BaseApp.to(BaseAppMgr)).answered(NameHeldID),
	row[FindName](FindNameID, BaseApp.to(BaseAppMgr)).answered(NameHeldID),
	row[NameHeld](NameHeldID, BaseAppMgr.to(BaseApp)),
	row[NameGone](NameGoneID, BaseApp.to(BaseAppMgr)),
	row[Names](NamesID, BaseApp.to(BaseAppMgr)),
	row[NameLost](NameLostID, BaseAppMgr.to(BaseApp)),
	row[BaseDoors](BaseDoorsID, BaseApp.to(BaseApp)),
	row[Inherited](InheritedID, BaseApp.to(BaseAppMgr)),
	row[Leaving](LeavingID, BaseApp.to(BaseApp, BaseAppMgr)),
	row[Depart](DepartID, BaseApp.to(CellAppMgr)).answered(DepartedID),
	row[Departed](DepartedID, CellAppMgr.to(BaseApp)),
	row[BasesMoved](BasesMovedID, CellAppMgr.to(CellApp, BaseAppMgr, BaseApp, DBApp)),
	row[Shed](ShedID, BaseAppMgr.to(BaseApp)),

	// Copies of bases.
	row[migrate.BaseCopy](BaseCopyID, BaseApp.to(BaseApp)),
	row[migrate.BaseCopyHeld](BaseCopyHeldID, BaseApp.to(BaseApp)),
	row[migrate.BaseGone](BaseGoneID, BaseApp.to(BaseApp)),
	row[migrate.BaseForgotten](BaseForgottenID, BaseApp.to(BaseApp)),
	row[migrate.CopyMark](CopyMarkID, BaseApp.to(BaseApp)),
	row[migrate.BackupRule](BackupRuleID, BaseApp.to(BaseApp, CellAppMgr)),
	row[migrate.BackupRuleHeld](BackupRuleHeldID, BaseApp.to(BaseApp), CellAppMgr.to(BaseApp)),
	row[RejoinRule](RejoinRuleID, CellApp.to(CellAppMgr), BaseApp.to(CellAppMgr)),

	// The store.
	row[CallStore](CallStoreID, BaseApp.to(DBApp)).answered(StoreAnswerID),
	row[StoreAnswer](StoreAnswerID, DBApp.to(BaseApp)),

	// The stop of a world.
	row[EndWorld](EndWorldID, Observer.to(CellAppMgr).proving(mercury.Operator)),
	row[WorldEnding](WorldEndingID, CellAppMgr.to(Observer, CellAppMgr)),
	row[Stop](StopID, CellAppMgr.to(CellApp, BaseAppMgr, BaseApp, LoginApp, DBApp, CellAppMgr)),
	row[StopState](StopStateID, CellApp.to(CellAppMgr), BaseAppMgr.to(CellAppMgr), BaseApp.to(CellAppMgr), LoginApp.to(CellAppMgr), DBApp.to(CellAppMgr)),

	// What the store keeps of the world, and what comes back when it starts.
	row[KeepSpace](KeepSpaceID, CellAppMgr.to(DBApp)),
	row[SpaceKept](SpaceKeptID, DBApp.to(CellAppMgr)),
	row[KeepOnly](KeepOnlyID, CellAppMgr.to(DBApp)),
	row[OnlyKept](OnlyKeptID, DBApp.to(CellAppMgr)),
	row[BringSpace](BringSpaceID, DBApp.to(CellAppMgr)).answered(SpaceBroughtID),
	row[SpaceBrought](SpaceBroughtID, CellAppMgr.to(DBApp)),
	row[BringBack](BringBackID, DBApp.to(BaseApp)).answered(BroughtBackID),
	row[BroughtBack](BroughtBackID, BaseApp.to(DBApp)),

	row[Status](StatusID, CellAppMgr.to(Observer)),

	// What processes show and let be set.
	row[ReadWatch](ReadWatchID, Observer.to(CellAppMgr), CellAppMgr.to(CellApp, BaseAppMgr, BaseApp, LoginApp, DBApp)).answered(WatchedID),
	row[SetWatch](SetWatchID, Observer.to(CellAppMgr).proving(mercury.Operator), CellAppMgr.to(CellApp, BaseAppMgr, BaseApp, LoginApp, DBApp)).answered(WatchedID),
	row[Watched](WatchedID, CellApp.to(CellAppMgr), BaseAppMgr.to(CellAppMgr), BaseApp.to(CellAppMgr), LoginApp.to(CellAppMgr), DBApp.to(CellAppMgr), CellAppMgr.to(Observer)),

	// Between managers.
	row[LeaseAsk](LeaseAskID, CellAppMgr.to(CellAppMgr)),
	row[LeaseVote](LeaseVoteID, CellAppMgr.to(CellAppMgr)),
)

// Kind is the table's row for the messages of one type.
type Kind struct {
	ID ID
	// Name is the name of the type, with its package unless that is wire.
	Name string
	// New returns an empty message.
	New func() Received
	// Answer is what answers it, if it is a question.
	Answer ID

	typ   reflect.Type
	takes [Observer + 1]roles // who takes it, by who sends it
	needs [Observer + 1]mercury.Standing
}

// roles is a set of roles: a bit for each.
type roles uint8

func (s roles) has(r Role) bool { return s>>r&1 != 0 }

// way says which roles take a message from one sender.
type way struct {
	from  Role
	to    roles
	needs mercury.Standing
}

// Standing is what a process must have proved to speak in a role.
func (r Role) Standing() mercury.Standing {
	if r == Observer {
		return mercury.Observer
	}
	return mercury.Member
}

func (r Role) to(takers ...Role) way {
	w := way{from: r, needs: r.Standing()}
	for _, t := range takers {
		w.to |= 1 << t
	}
	return w
}

// proving says that sending the message takes more than the role.
func (w way) proving(s mercury.Standing) way {
	w.needs = s
	return w
}

func row[T any, M interface {
	*T
	Received
}](id ID, ways ...way) Kind {
	t := reflect.TypeFor[M]()
	k := Kind{ID: id, Name: strings.TrimPrefix(t.Elem().String(), "wire."), New: func() Received { return M(new(T)) }, typ: t}
	for _, w := range ways {
		k.takes[w.from], k.needs[w.from] = w.to, w.needs
	}
	return k
}

// answered says which message answers those of k.
func (k Kind) answered(by ID) Kind {
	k.Answer = by
	return k
}

// index is the table in the form for look-ups.
type index struct {
	rows []Kind
	byID [1 << 8]*Kind
	// byType is an open-addressed hash table, since a look-up in a map of types would take longer
	// than to encode a message.
	byType [1 << 8]*Kind
}

func newTable(rows ...Kind) *index {
	t := &index{rows: rows}
	for i := range rows {
		k := &rows[i]
		t.byID[k.ID] = k
		at := slot(k.typ)
		for t.byType[at] != nil {
			at++
		}
		t.byType[at] = k
	}
	return t
}

// slot is the first place to look for the row of a type.
func slot(t reflect.Type) uint8 {
	return uint8(uint64(reflect.ValueOf(t).Pointer()) * 0x9e3779b97f4a7c15 >> 56)
}

func (t *index) of(m Message) *Kind {
	typ := reflect.TypeOf(m)
	for at := slot(typ); ; at++ {
		if k := t.byType[at]; k == nil || k.typ == typ {
			return k
		}
	}
}

// Kinds returns all rows of the table.
func Kinds() []Kind { return slices.Clone(table.rows) }

// May reports whether apps of one role may send a message to those of another. Nobody takes what is
// not in the table.
func May(from Role, id ID, to Role) bool {
	k := table.byID[id]
	return k != nil && from <= Observer && k.takes[from].has(to)
}

// Proved reports whether a standing suffices to send a message in a role. Nothing suffices for a
// message that the role does not send.
func Proved(s mercury.Standing, from Role, id ID) bool {
	k := table.byID[id]
	return k != nil && from <= Observer && k.takes[from] != 0 && s >= k.needs[from]
}

// Takes reports whether apps of a role take a message from anyone.
func Takes(to Role, id ID) bool {
	for from := range Observer {
		if May(from+1, id, to) {
			return true
		}
	}
	return false
}

// String names the message.
func (id ID) String() string {
	if k := table.byID[id]; k != nil {
		return k.Name
	}
	return fmt.Sprintf("message(%d)", uint8(id))
}

// IDOf returns the id of a message. It panics for a type that is not a message.
func IDOf(m Message) ID {
	k := table.of(m)
	if k == nil {
		panic(fmt.Sprintf("wire: %T is not a message", m))
	}
	return k.ID
}

// Encode appends id and body of m.
func Encode(b []byte, m Message) []byte { return m.Append(append(b, byte(IDOf(m)))) }
