// Package baseappmgr is the BaseAppMgr: the one process of a cluster that knows
// which account is on which BaseApp, and that chooses the BaseApp of a new proxy.
//
// # What it does
//
//	LoginApp                BaseAppMgr               BaseApp
//	   |--- CreateProxy a ----->|                       |
//	   |                        |  is a free?           |
//	   |                        |--- MakeProxy a ------>| the one with the fewest
//	   |                        |<-- ProxyMade id ------|
//	   |<-- ProxyMade id -------|                       |
//	   |                        |<-- ProxyGone a, id ---|  a is free again
//
// It joins the CellAppMgr, which tells every BaseApp and LoginApp where it is;
// they join it in turn.
//
// # Promises
//
//   - An account has one proxy at most, as long as this process lives and a
//     BaseApp's channel does.
//   - Every CreateProxy is answered, within AnswerTimeout.
//   - An account is freed when its proxy is gone, or its BaseApp.
//
// The table is not kept anywhere else: a BaseAppMgr that starts again begins with
// an empty one.
//
// # Concurrency
//
// A BaseAppMgr starts no goroutine, reads no clock and opens no socket. It belongs
// to the goroutine that calls it.
package baseappmgr
