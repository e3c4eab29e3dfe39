// Package baseappmgr is the BaseAppMgr: the one process of a cluster that knows which account and
// which name is on which BaseApp, and that chooses the BaseApp of a new base.
//
// # What it does
//
//	LoginApp                BaseAppMgr               BaseApp
//	   |--- CreateProxy a ----->|                       |
//	   |                        |  is a free?           |
//	   |                        |--- MakeProxy a ------>| the one with the fewest that has room
//	   |                        |<-- ProxyMade id ------|
//	   |<-- ProxyMade id -------|                       |
//	   |                        |<-- ProxyGone a, id ---|  a is free again
//
// If a has a proxy already, its BaseApp is asked instead (Relogin). It gives the proxy to the new
// client, refuses, or says that the proxy is gone; then another one is made.
//
// It joins the CellAppMgr, which tells every BaseApp and LoginApp where it is; they join it in
// turn. A BaseApp that joins says which accounts have a proxy on it (Proxies):
//
//	BaseApp                  BaseAppMgr
//	   |--- Join ---------------->|
//	   |--- Proxies a, b, c ----->|  a, b and c are taken
//	   |--- Names "guild" ------->|  so is this name of a base
//	   |<-- Welcome --------------|
//
// A BaseApp asks it for a base on the least loaded BaseApp (PlaceBase, CreateBase), for a name that
// no other base of the cluster has (RegisterName), and who has a name (FindName).
//
// If a BaseApp has much more to do than others, or many more bases, it is ordered to give some to
// one that has less (Shed); shed.go says when. Config.Shed switches that off.
//
// # Promises
//
//   - An account has at most one proxy, of those that are on BaseApps of which the CellAppMgr knows.
//   - Every CreateProxy is answered once, within ReserveTimeout. A LoginApp does not wait so long.
//   - Logins never make a BaseApp have more than Config.MaxProxies proxies, through however many
//     LoginApps they come; see room.go. A BaseApp that is to leave gets none.
//   - An account is freed when its proxy or its BaseApp is gone.
//   - Whoever hears that another has a name hears of a base that lives. While one is yet to be made
//     for a name, others who want the name wait, and get it if nothing comes of that; names.go draws
//     it.
//   - A name has at most one base. It is free again when the base is gone, gives it up, or its BaseApp
//     is declared dead. A BaseApp that is only away keeps its names.
//
// New names wait until each BaseApp that the CellAppMgr has named has joined and told its own. If
// one dies before that, they wait until all others have told what came to them with its bases. So a
// BaseAppMgr that starts again gives no name away. It can do so only if the CellAppMgr is new, too,
// and has not heard of a BaseApp that is away; then the name known first counts, a warning tells of
// both bases, and the other one is told (NameLost).
//
// The table of accounts is not stored: a BaseAppMgr that starts again learns it from the BaseApps
// as they join. Until all that the CellAppMgr has named have told theirs, a login to an account
// that seems free waits; unsure.go says for how long. So two proxies of an account take two
// managers which both started anew while a BaseApp was away. When that BaseApp then announces its
// proxy, the one known to the table stays the one that counts; a warning names both BaseApps, and
// neither is told. If both proxies are of one login, since the account was handed on between bases,
// the one that was handed it later counts, and the BaseApp of the other is told (Outdone), whoever
// announces it first. A BaseApp speaks only for bases that it has, as far as the CellAppMgr has
// told; early.go says what becomes of an heir that knows more. A ProxyGone that was lost with a
// channel is not said again: when the BaseApp has joined on a new channel and told what it has,
// what it has not told is free.
//
// # Concurrency
//
// A BaseAppMgr starts no goroutine, reads no clock and opens no socket. It belongs to the goroutine
// that calls it.
package baseappmgr
