-- wrk: POSTs of a new intent each; ids are unique over threads and runs

local threads = 0

function setup(thread)
    thread:set("id", threads)
    threads = threads + 1
end

function init(args)
    prefix = '{"intentId":"' .. args[1] .. "-" .. id .. "-"
    n = 0
    headers = { ["Content-Type"] = "application/json" }
end

function request()
    n = n + 1

    return wrk.format("POST", nil, headers,
        prefix .. n .. '","submissionTarget":"sms.realtime",'
        .. '"payload":{"to":"+15550100","message":"Your code is 123456"}}')
end

-- one line for the script: requests, microseconds, p50, p99, not 2xx, broken

function done(summary, latency, requests)
    local e = summary.errors

    io.write(string.format("RESULT %d %d %d %d %d %d\n",
        summary.requests, summary.duration,
        latency:percentile(50), latency:percentile(99),
        e.status, e.connect + e.read + e.write + e.timeout))
end
