package wire

import (
	"fmt"

	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/migrate"
)

// Message ids. New ones are added at the end of their receiver's block.
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
)

// To the end of a flow, on a CellApp or a BaseApp.
const (
	FlowID ID = 64 + iota
	FlowAckID
)

// To a BaseApp.
const (
	LocatedID ID = 80 + iota
	CurrentID
	ClientPacketID
	OfferID
	CellLostID
	MakeProxyID
	SpaceCreatedID
	AppLeftID
)

// To a BaseAppMgr.
const (
	CreateProxyID ID = 96 + iota
	ProxyGoneID
	ProxiesID
)

// To a LoginApp; ProxyMade also to a BaseAppMgr, on the way there.
const (
	ProxyMadeID ID = 112 + iota
	LoginsID
)

// To an observer.
const StatusID ID = 128

// IDOf is the id of a message; it panics for a type that is no message.
func IDOf(m Message) ID {
	switch m.(type) {
	case *Welcome:
		return WelcomeID
	case *Refused:
		return RefusedID
	case *AppDead:
		return AppDeadID
	case *Freeze:
		return FreezeID
	case *AppSilent:
		return AppSilentID
	case *AppLeft:
		return AppLeftID
	case *Dismissed:
		return DismissedID
	case *Join:
		return JoinID
	case *Report:
		return ReportID
	case *CellsReport:
		return CellsReportID
	case *CellCreated:
		return CellCreatedID
	case *Locate:
		return LocateID
	case *SetSpaceData:
		return SetSpaceDataID
	case *GeometryLacked:
		return GeometryLackedID
	case *CellRemoved:
		return CellRemovedID
	case *RetireApp:
		return RetireAppID
	case *CreateSpace:
		return CreateSpaceID
	case *DestroySpace:
		return DestroySpaceID
	case *SpaceCreated:
		return SpaceCreatedID
	case *SpaceDestroyed:
		return SpaceDestroyedID
	case *Members:
		return MembersID
	case *Rejoin:
		return RejoinID
	case *RejoinCell:
		return RejoinCellID
	case *RejoinEnd:
		return RejoinEndID
	case *AddCell:
		return AddCellID
	case *RemoveCell:
		return RemoveCellID
	case *CellGoing:
		return CellGoingID
	case *RemovalAck:
		return RemovalAckID
	case *Retired:
		return RetiredID
	case *Geometry:
		return GeometryID
	case *SpaceData:
		return SpaceDataID
	case *SpaceDataSet:
		return SpaceDataSetID
	case *ghost.State:
		return GhostStateID
	case *ghost.Update:
		return GhostUpdateID
	case *ghost.Delete:
		return GhostDeleteID
	case *ghost.Audit:
		return GhostAuditID
	case *ghost.Query:
		return GhostQueryID
	case *ghost.Roll:
		return GhostRollID
	case *migrate.Probe:
		return ProbeID
	case *migrate.Onload:
		return OnloadID
	case *migrate.OnloadAck:
		return OnloadAckID
	case *migrate.Create:
		return CreateID
	case *migrate.Refuse:
		return RefuseRealID
	case *ClientMove:
		return ClientMoveID
	case *SpaceRate:
		return SpaceRateID
	case *flow.Message:
		return FlowID
	case *flow.Ack:
		return FlowAckID
	case *Located:
		return LocatedID
	case *migrate.Current:
		return CurrentID
	case *ClientPacket:
		return ClientPacketID
	case *migrate.Offer:
		return OfferID
	case *migrate.Lost:
		return CellLostID
	case *MakeProxy:
		return MakeProxyID
	case *CreateProxy:
		return CreateProxyID
	case *ProxyGone:
		return ProxyGoneID
	case *Proxies:
		return ProxiesID
	case *ProxyMade:
		return ProxyMadeID
	case *Logins:
		return LoginsID
	case *Status:
		return StatusID
	}
	panic(fmt.Sprintf("wire: %T is no message", m))
}

// Encode appends id and body of m.
func Encode(b []byte, m Message) []byte {
	return m.Append(append(b, byte(IDOf(m))))
}
