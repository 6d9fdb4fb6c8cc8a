"""Needs what this client cannot do, and says so."""

from calling import serve


def call(request, era):
    needed = {"extensions": {"com.example/maps": {}}}
    error = {"code": -32021, "message": "needs maps", "data": {"requiredCapabilities": needed}}
    return {"id": request["id"], "error": error}


serve(call, era="now")
