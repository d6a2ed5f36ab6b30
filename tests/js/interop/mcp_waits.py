"""Waits for messages with a Python SDK, unmodified: `mcp_waits.py SDK URL TOKEN SPACE`.

SDK is `mcp` or `fastmcp`. It waits many times at once, and writes as JSON which waits were refused
and how many tools the session lists afterwards.
"""

import asyncio
import contextlib
import json
import sys

TOOL = "wait_for_messages"


@contextlib.asynccontextmanager
async def fastmcp_caller(url, headers):
    from fastmcp import Client
    from fastmcp.client.transports import StreamableHttpTransport

    async with Client(StreamableHttpTransport(url, headers=headers)) as client:

        async def call(arguments):
            result = await client.call_tool(TOOL, arguments, raise_on_error=False)
            return result.is_error

        async def count():
            return len(await client.list_tools())

        yield call, count


@contextlib.asynccontextmanager
async def caller_of_1(url, headers):
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    async with (
        streamablehttp_client(url, headers=headers) as (reading, writing, _),
        ClientSession(reading, writing) as session,
    ):
        await session.initialize()

        async def call(arguments):
            return (await session.call_tool(TOOL, arguments)).isError

        async def count():
            return len((await session.list_tools()).tools)

        yield call, count


@contextlib.asynccontextmanager
async def caller_of_2(url, headers):
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):

        async def call(arguments):
            return (await client.call_tool(TOOL, arguments)).is_error

        async def count():
            return len((await client.list_tools()).tools)

        yield call, count


def caller_of(sdk):
    if sdk == "fastmcp":
        return fastmcp_caller
    import mcp

    return caller_of_2 if hasattr(mcp, "Client") else caller_of_1


async def main(sdk, url, token, space):
    headers = {"Authorization": f"Bearer {token}"}
    arguments = {"spaceId": space, "afterSeq": 0, "timeoutSeconds": 2}
    async with caller_of(sdk)(url, headers) as (call, count):

        async def wait(times):
            results = await asyncio.gather(*(call(arguments) for _ in range(times)))
            return [bool(refused) for refused in results]

        seven = await wait(7)
        many = await wait(20)
        print(json.dumps({"seven": seven, "many": many, "tools": await count()}))


asyncio.run(asyncio.wait_for(main(*sys.argv[1:]), 60))
