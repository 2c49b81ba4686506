-- wrk: POSTs of many new intents each, as lines of JSON; ids are unique over
-- threads and runs.  An answer counts if all of its lines do.

local threads = {}

function setup(thread)
    thread:set("id", #threads)
    table.insert(threads, thread)
end

function init(args)
    prefix = '{"intentId":"' .. args[1] .. "-" .. id .. "-"
    lines = tonumber(args[2])
    headers = { ["Content-Type"] = "application/x-ndjson" }
    n = 0
    bad = 0
end

function request()
    local body = {}

    for i = 1, lines do
        n = n + 1
        body[i] = prefix .. n .. '","submissionTarget":"sms.realtime",'
            .. '"payload":{"to":"+15550100","message":"Your code is 123456"}}\n'
    end

    return wrk.format("POST", nil, headers, table.concat(body))
end

function response(status, _, body)
    local _, good = body:gsub('"status":200,"replayed":false', "")

    if status ~= 200 or good ~= lines then
        bad = bad + 1
    end
end

-- as bench/intents.lua

function done(summary, latency, requests)
    local e = summary.errors
    local bad = 0

    for _, thread in ipairs(threads) do
        bad = bad + thread:get("bad")
    end

    io.write(string.format("RESULT %d %d %d %d %d %d\n",
        summary.requests, summary.duration,
        latency:percentile(50), latency:percentile(99), bad,
        e.connect + e.read + e.write + e.timeout))
end
